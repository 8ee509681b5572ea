import { describe, expect, it } from 'vitest';
import type { Bus } from '#bus';
import { MusterError } from '#contracts';
import type { FleetOracle } from './fleet-oracle.js';
import { Operator } from './operator.js';

/** An operator whose orders are answered one by one, and how long he may believe that fencing is paused. */
function world() {
  const asked: { resolve: (answer: object) => void; reject: (e: Error) => void }[] = [];
  let until: number | undefined;
  const call = (): Promise<object> => new Promise((resolve, reject) => asked.push({ resolve, reject }));
  const clock = { monotonicMs: () => 0, wallMs: () => 0 };
  const oracle = {
    ...{ probe: () => undefined, violate: () => undefined, pauseMayEnd: () => undefined },
    paused: (ms: number) => (until = ms),
    resumed: () => (until = undefined),
  };
  const sut = new Operator({
    ...{ bus: { call, clock } as unknown as Bus, oracle: oracle as unknown as FleetOracle },
    tell: () => undefined,
  });
  const answered = async (n: number, error?: MusterError): Promise<void> => {
    if (error === undefined) asked[n]?.resolve({});
    else asked[n]?.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { sut, answered, isPaused: () => until !== undefined };
}

const pause = { what: 'pause', forMs: 60_000 } as const;

describe('a pause that is acknowledged', () => {
  it('stands where no other order is on its way', async () => {
    const { sut, answered, isPaused } = world();
    sut.order(pause);
    expect(isPaused()).toBe(false);
    await answered(0);
    expect(isPaused()).toBe(true);
    sut.order({ what: 'enforce' });
    expect(isPaused()).toBe(false);
  });

  it('is not relied upon while an earlier order may be written over it', async () => {
    const late = world();
    late.sut.order({ what: 'enforce' });
    late.sut.order(pause);
    await late.answered(1);
    expect(late.isPaused()).toBe(false);
    for (const [code, stands] of [
      ['TIMEOUT', false],
      ['FENCING_REFUSED', true],
    ] as const) {
      const { sut, answered, isPaused } = world();
      sut.order({ what: 'enforce' });
      sut.order(pause);
      await answered(0, new MusterError(code, 'so it is'));
      await answered(1);
      expect([code, isPaused()]).toEqual([code, stands]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { PowerCommand } from '#contracts';
import { anIncident } from '../testing/records.js';
import { failedTest, type Fencing } from './self-test.js';

const busy = (id: string) => ({ id, power: 'unknown' as const, code: 'NODE_BUSY', detail: 'it is being fenced' });
const on = { id: 'bmc', power: 'on' as const };
const command = (n: number, o: Partial<PowerCommand> = {}): PowerCommand => ({
  ...{ n, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'status', at: n, endedAt: n },
  result: { ok: true, power: 'on' },
  ...o,
});
const underWay = (n: number): PowerCommand => {
  const { endedAt: _endedAt, result: _result, ...intent } = command(n);
  return intent;
};
const fencing = (...commands: PowerCommand[]): Fencing => anIncident('n-1', { phase: 'fencing', commands });

describe('the test of a node’s power devices', () => {
  it('is passed where each answers, and by no node whose devices nobody has answered for', () => {
    expect(failedTest([on], undefined, undefined)).toBeUndefined();
    expect(failedTest([], undefined, undefined)).toEqual({ why: 'none answered', busy: false });
    const mute = { id: 'bmc', power: 'unknown' as const, code: 'BMC_TIMEOUT' };
    expect(failedTest([mute], undefined, undefined)).toEqual({ why: 'bmc: BMC_TIMEOUT', busy: false });
  });

  it('is passed by one whose fencer was answered since it began', () => {
    expect(failedTest([busy('bmc')], fencing(), fencing(command(1)))).toBeUndefined();
    expect(
      failedTest([busy('bmc')], fencing(command(1), underWay(2)), fencing(command(1), command(2))),
    ).toBeUndefined();
    const off = command(2, { verb: 'off', result: { ok: true } });
    expect(failedTest([busy('bmc')], fencing(command(1)), fencing(command(1), off, underWay(3)))).toBeUndefined();
    // The incident of before is over.
    const other = { ...fencing(command(1)), id: 'another' };
    expect(failedTest([busy('bmc')], other, fencing(command(1)))).toBeUndefined();
  });

  it.each<[string, Fencing | undefined, Fencing | undefined]>([
    ['there is no incident', undefined, undefined],
    ['nothing was asked of it yet', fencing(), fencing()],
    ['nobody has said anything since', fencing(command(1)), fencing(command(1), underWay(2))],
    ['it did not answer', fencing(), fencing(command(1), command(2, { result: { ok: false, code: 'BMC_TIMEOUT' } }))],
    ['its answer says nothing', fencing(), fencing(command(1, { result: { ok: true, power: 'unknown' } }))],
    ['another device of it answered', fencing(), fencing(command(1, { device: 'pdu' }))],
    ['its fencing is over', fencing(), { ...fencing(command(1)), phase: 'failed' }],
  ])('is not passed, but may be soon, while a node is fenced and %s', (_why, before, now) => {
    expect(failedTest([busy('bmc')], before, now)).toEqual({ why: 'bmc: NODE_BUSY', busy: true });
  });

  it('is failed for good by a device that does not answer beside one that is busy', () => {
    const mute = { id: 'pdu', power: 'unknown' as const, code: 'BMC_TIMEOUT' };
    expect(failedTest([busy('bmc'), mute], fencing(), fencing())).toEqual({ why: 'pdu: BMC_TIMEOUT', busy: false });
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { NodeRecord, Verdict } from '#contracts';
import { Records } from '../snapshot/records.js';
import { StormBook } from '../snapshot/storm-book.js';
import { aNode, anOwnProbe, aVerdict, enforced } from '../testing/records.js';
import { GateFactsService } from './gate-facts.js';

/** As of now; `while` reads are awaited. */
interface Played {
  now: number;
  sees: { members: number; sightedReporters: number } | undefined;
  /** Happens while a record is read. */
  reading: () => void;
}

function world() {
  const is: Played = { now: 1_000, sees: undefined, reading: () => undefined };
  let told: (name: string, node: NodeRecord | undefined) => void = () => undefined;
  const view = {
    ...{ live: true, unreadable: new Map(), entries: () => [], get: () => undefined },
    onChange: () => () => undefined,
  };
  const none = new Records<never>([]);
  const get = async (): Promise<undefined> => {
    is.reading();
    return Promise.resolve(undefined);
  };
  const empty = { view, bucket: { get } };
  const nodes = { ...empty, view: { ...view, onChange: (fn: typeof told) => (told = fn) } };
  const store = { nodes, incidents: empty, permits: empty, reservations: empty, jobs: empty };
  const clock = { ...systemClock, monotonicMs: () => is.now };
  const context = { bus: { nc: {} }, clock, config: { nats: { servers: ['10.9.0.1'] } } };
  const storms = new StormBook(clock);
  const fleets = {
    storms,
    now: () => ({
      ...{ storms, nodes: none, incidents: none, permits: none, settings: enforced(), knowsSettings: true },
      detector: {
        ...{ beacon: is.sees, fresh: is.sees !== undefined, sighted: is.sees !== undefined, silentTogether: [] },
      },
      heard: () => undefined,
      workers: is.sees && [],
      wallMs: is.now,
    }),
  };
  const parts = [context, store, { of: () => undefined }, { of: () => [] }, fleets];
  // What is played here is less than the real parts, and all that is asked of them.
  const sut = new GateFactsService(...(parts as unknown as ConstructorParameters<typeof GateFactsService>));
  return { is, sut, told: (name: string, node: NodeRecord | undefined) => told(name, node) };
}

describe('how long a host has been hung', () => {
  const node = aNode('n-1', { verdict: aVerdict('n-1') });
  const refused: Verdict = aVerdict('n-1', {
    evidence: { ...aVerdict('n-1').evidence, ownProbe: anOwnProbe({ ssh: 'refused' }) },
  });
  let w: ReturnType<typeof world>;
  const forMs = async (): Promise<number | undefined> =>
    (await w.sut.gather(node, refused, { cause: 'auto' })).hungForMs;
  beforeEach(() => (w = world()));

  it('grows while it stays silent otherwise', async () => {
    expect(await forMs()).toBe(0);
    w.is.now += 9_000;
    w.told('n-1', node);
    expect(await forMs()).toBe(9_000);
  });
  it('begins anew when the node was heard in between, although nobody asked then', async () => {
    await forMs();
    w.is.now += 3_600_000;
    w.told('n-1', { ...node, verdict: aVerdict('n-1', { verdict: 'UP' }) });
    expect(await forMs()).toBe(0);
  });
});

describe('what the gates look at', () => {
  it('is of one moment, after what had to be read', async () => {
    const { is, sut } = world();
    is.sees = { members: 5, sightedReporters: 5 };
    is.reading = () => {
      is.now = 2_000;
      is.sees = { members: 5, sightedReporters: 2 };
    };
    const seen = await sut.gather(aNode('n-1'), undefined, { cause: 'auto' });
    expect(seen).toMatchObject({ detector: { members: 5, reporters: 2 }, otherFencers: 0, wallNow: 2_000 });
    is.reading = () => (is.sees = undefined);
    const blind = await sut.gather(aNode('n-1'), undefined, { cause: 'auto' });
    expect([blind.detector, blind.otherFencers]).toEqual([undefined, undefined]);
  });
});

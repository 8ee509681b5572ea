import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { NodeRecord, Verdict } from '#contracts';
import { Records } from '../snapshot/records.js';
import { StormBook } from '../snapshot/storm-book.js';
import { aNode, anOwnProbe, aVerdict, enforced } from '../testing/records.js';
import { GateFactsService } from './gate-facts.js';

describe('how long a host has been hung', () => {
  let now: number;
  let told: (name: string, node: NodeRecord | undefined) => void;
  let sut: GateFactsService;
  const node = aNode('n-1', { verdict: aVerdict('n-1') });
  const refused: Verdict = aVerdict('n-1', {
    evidence: { ...aVerdict('n-1').evidence, ownProbe: anOwnProbe({ ssh: 'refused' }) },
  });
  const forMs = async (): Promise<number | undefined> => (await sut.gather(node, refused, { cause: 'auto' })).hungForMs;

  beforeEach(() => {
    now = 1_000;
    const view = {
      live: true,
      unreadable: new Map(),
      entries: () => [],
      get: () => undefined,
      onChange: () => () => undefined,
    };
    const none = new Records<never>([]);
    const empty = { view, bucket: { get: () => Promise.resolve(undefined) } };
    const nodes = { ...empty, view: { ...view, onChange: (fn: typeof told) => (told = fn) } };
    const store = {
      ...{ nodes, incidents: empty, permits: empty, settings: empty, reservations: empty, jobs: empty },
      clusterSettings: enforced(),
      workers: { stale: true, live: () => [] },
    };
    const clock = { ...systemClock, monotonicMs: () => now };
    const context = { bus: { nc: {} }, clock, config: { nats: { servers: ['10.9.0.1'] } } };
    const book = new StormBook(clock);
    const parts = [
      context,
      store,
      { fresh: false },
      { ageMs: () => undefined },
      { of: () => undefined },
      { of: () => [] },
      {
        storms: book,
        now: () => ({
          storms: book,
          nodes: none,
          incidents: none,
          permits: none,
          detector: { silentTogether: [] },
          settings: enforced(),
        }),
      },
    ];
    // What is played here is less than the real parts, and all that is asked of them.
    sut = new GateFactsService(...(parts as unknown as ConstructorParameters<typeof GateFactsService>));
  });

  it('grows while it stays silent otherwise', async () => {
    expect(await forMs()).toBe(0);
    now += 9_000;
    told('n-1', node);
    expect(await forMs()).toBe(9_000);
  });
  it('begins anew when the node was heard in between, although nobody asked then', async () => {
    await forMs();
    now += 3_600_000;
    told('n-1', { ...node, verdict: aVerdict('n-1', { verdict: 'UP' }) });
    expect(await forMs()).toBe(0);
  });
});

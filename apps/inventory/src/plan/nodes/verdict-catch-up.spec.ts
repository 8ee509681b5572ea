import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError, type Beacon } from '#contracts';
import type { Reconciler } from '../../conductor/task.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode, aVerdict } from '../../testing/records.js';
import { MISSED_MS, verdictCatchUp } from './verdict-catch-up.js';

describe('a verdict that never arrived', () => {
  let store: MemoryStore;
  let sut: Reconciler;

  beforeEach(() => {
    store = new MemoryStore();
    sut = planExecutor(store).drive(verdictCatchUp);
    for (const name of ['n-1', 'n-2'])
      store.nodes.set(name, aNode(name, { verdict: { verdict: 'UP', networks: [], epoch: 1, seq: 1, at: 1 } }));
  });

  /** @param beacon right before it, by default one that calls n-1 DOWN */
  const round = async (at: number, beacon: Partial<Beacon> = {}): Promise<void> => {
    store.clock.now = at;
    const notUp = { 'n-1': { verdict: 'DOWN' as const, seq: 5 } };
    store.detector.hear(JSON.stringify(aBeacon({ seq: at, notUp, ...beacon })));
    await playRun(sut, { now: at });
  };
  const known = (node: string) => store.nodes.content[node]?.verdict;

  it('is asked for once it is late, and applied', async () => {
    store.verdicts.set('n-1', aVerdict('n-1', { verdict: 'DOWN', seq: 5 }));
    await round(0);
    await round(MISSED_MS - 1);
    expect(store.told).toEqual([]);
    await round(MISSED_MS);
    expect(known('n-1')).toMatchObject({ verdict: 'DOWN', seq: 5 });
    await round(MISSED_MS + 1);
    expect(store.told.filter((t) => t.startsWith('asked'))).toEqual(['asked for n-1']);
  });

  it('is not asked for of a detector that does not see the fleet, and then is late from anew', async () => {
    await round(0);
    await round(1_000, { sighted: false });
    await round(MISSED_MS);
    await round(MISSED_MS + 1_999);
    expect(store.told).toEqual([]);
    await round(MISSED_MS + 2_000);
    expect(store.told).toEqual(['asked for n-1']);
  });

  it('is asked for again where the detector does not answer, or says something else', async () => {
    await round(0);
    await round(MISSED_MS);
    store.verdicts.set('n-1', { ...aVerdict('n-1', { seq: 9 }), verdict: 'PERHAPS' });
    await round(MISSED_MS + 1_000);
    store.verdicts.set('n-1', aVerdict('n-1', { verdict: 'DOWN', seq: 5 }));
    await round(MISSED_MS + 2_000);
    expect(known('n-1')).toMatchObject({ verdict: 'DOWN' });
  });

  it('fails its task where it cannot be written, and holds up no other', async () => {
    const notUp = { 'n-1': { verdict: 'DOWN' as const, seq: 5 }, 'n-2': { verdict: 'DOWN' as const, seq: 6 } };
    for (const name of ['n-1', 'n-2']) store.verdicts.set(name, aVerdict(name, { verdict: 'DOWN', seq: 6 }));
    await round(0, { notUp });
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) =>
      key === 'n-1' ? Promise.reject(new MusterError('TIMEOUT', 'no answer')) : mutate(key, fn);
    await expect(round(MISSED_MS, { notUp })).rejects.toThrow('no answer');
    expect([known('n-1')?.verdict, known('n-2')?.verdict]).toEqual(['UP', 'DOWN']);
  });
});

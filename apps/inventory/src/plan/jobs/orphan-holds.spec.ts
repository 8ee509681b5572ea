import { describe, expect, it } from 'vitest';
import { RESERVATIONS_KEY, type JobRecord } from '#contracts';
import { aJob } from '../../testing/fixtures.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { ORPHANED_MS, orphanHoldsEnd } from './orphan-holds.js';

describe('the sweep of orphan holds', () => {
  /** A store in which somebody may still renew the lost job's lease, and may write its record at any moment. */
  function world() {
    const store = new MemoryStore();
    const hold = { job: 'lost', kind: 'commission' as const, hostGroup: 'service-worker', generation: 1, at: 5 };
    const held = { 'n-1': hold, 'n-2': hold };
    store.reservations.set(RESERVATIONS_KEY, { held, pending: {}, generation: 4 });
    store.leases.set('job.lost', {});
    const sut = planExecutor(store).drive(orphanHoldsEnd);
    const round = (at: number): Promise<void> => {
      store.clock.now = at;
      return playRun(sut, { now: at, token: 9 });
    };
    const written = (): JobRecord[] => Object.values(store.jobs.content);
    return { store, written, round };
  }

  it('ends it once nobody has been seen at work on it for long enough', async () => {
    const { store, written, round } = world();
    await round(0);
    await round(ORPHANED_MS - 1);
    expect(written()).toEqual([]);
    await round(ORPHANED_MS);
    expect(written()).toMatchObject([
      { id: 'lost', status: 'Errored', nodes: ['n-1', 'n-2'], settled: false, conductor: 9 },
    ]);
    expect(store.logged).toEqual(['a job whose record was lost is ended as failed']);
  });

  it('leaves it alone while a worker renews its lease', async () => {
    const { store, written, round } = world();
    for (let at = 0; at <= 4 * ORPHANED_MS; at += ORPHANED_MS / 2) {
      store.leases.set('job.lost', {});
      await round(at);
    }
    expect(written()).toEqual([]);
  });

  it('leaves it alone where it is renewed right before it is ended', async () => {
    const { store, written, round } = world();
    await round(0);
    const { read } = store.leases.bucket;
    let reads = 0;
    store.leases.bucket.read = async (key) => {
      if (++reads === 2) store.leases.set(key, {});
      return read(key);
    };
    await round(ORPHANED_MS);
    expect([reads, written()]).toEqual([2, []]);
  });

  it('leaves it alone where a record is there after all, or none can be seen', async () => {
    const { store, written, round } = world();
    await round(0);
    store.jobs.live = false;
    await round(ORPHANED_MS);
    store.jobs.live = true;
    const { read } = store.jobs.bucket;
    store.jobs.bucket.read = async (key) =>
      key === 'lost' ? Promise.resolve({ key, value: aJob({ id: key }), revision: 99 }) : read(key);
    await round(ORPHANED_MS + 1);
    expect(written()).toEqual([]);
  });
});

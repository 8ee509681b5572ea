import { describe, expect, it } from 'vitest';
import type { JobRecord, Reservations } from '#contracts';
import { settle } from '../jobs/settle.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { playRun } from '../testing/play-run.js';
import { aNode } from '../testing/records.js';
import { lostJob, orphanHolds } from './orphan-holds.js';
import { ORPHANED_MS, OrphanHoldsReconciler } from './orphan-holds.reconciler.js';

const job = (id: string): JobRecord => ({ id }) as JobRecord;
const held = (o: Partial<Reservations> = {}): Reservations => ({
  held: {
    'n-1': { job: 'lost', kind: 'commission', hostGroup: 'service-worker', generation: 1, at: 5 },
    'n-2': { job: 'lost', kind: 'commission', hostGroup: 'service-worker', generation: 1, at: 5 },
    'n-3': { job: 'known', kind: 'check', generation: 2, at: 6 },
    'n-4': { job: 'coming', kind: 'check', generation: 3, at: 7 },
    'n-5': { claim: 'c', generation: 4, at: 8 },
  },
  pending: { coming: job('coming') },
  generation: 4,
  ...o,
});

describe('a job of which only the hold on its nodes is left', () => {
  it('is one that has no record and is not about to get one', () => {
    expect(orphanHolds(held(), (id) => id === 'known')).toEqual([
      { job: 'lost', kind: 'commission', hostGroup: 'service-worker', nodes: ['n-1', 'n-2'], at: 5 },
    ]);
  });

  it('ends as a failure does: its nodes are in no transient status, and can be asked for again', () => {
    for (const [kind, during, after] of [
      ['commission', 'Provisioning', 'Unallocated'],
      ['maintenance', 'Maintenance', 'Unallocated'],
      ['decommission', 'Cancelled', 'Decommissioned'],
    ] as const) {
      const ended = lostJob({ job: 'lost', kind, nodes: ['n-1'], at: 5 }, 9, 10);
      const node = aNode('n-1', { status: during });
      const settled = settle(node, ended, { onReturn: 'resetup', at: 10 });
      expect(settled.node).toMatchObject({ status: after, lastJob: 'lost' });
    }
    expect(lostJob({ job: 'd', kind: 'discover', nodes: ['n-1'], at: 5 }, 9, 10)).toMatchObject({
      nodes: [],
      settled: false,
    });
  });
});

describe('the sweep of orphan holds', () => {
  /** A store in which somebody may still renew the lost job's lease, and may write its record at any moment. */
  function world() {
    const clock = { now: 0, monotonicMs: () => clock.now, wallMs: () => 1000 };
    const state = { lease: 3, record: undefined as JobRecord | undefined, live: true };
    const written: JobRecord[] = [];
    const reservations = { value: held() };
    const store = {
      clock,
      jobs: {
        view: {
          get live() {
            return state.live;
          },
          get: (id: string) => (id === 'known' ? { value: job(id) } : undefined),
          unreadable: new Map(),
        },
        bucket: {
          read: async () => Promise.resolve(state.record && { value: state.record }),
          create: async (_id: string, j: JobRecord) => Promise.resolve(void written.push(j)),
        },
      },
      reservations: {
        view: { live: true, get: () => reservations },
        bucket: { get: async () => Promise.resolve(reservations) },
      },
      bus: {
        bucket: () => ({ read: async () => Promise.resolve({ revision: state.lease }) }),
        log: { error: () => undefined },
      },
    } as unknown as InventoryStore;
    const sut = new OrphanHoldsReconciler(store);
    const round = (at: number): Promise<void> => {
      clock.now = at;
      return playRun(sut, { now: at, token: 9 });
    };
    return { state, written, round };
  }

  it('ends it once nobody has been seen at work on it for long enough', async () => {
    const { written, round } = world();
    await round(0);
    await round(ORPHANED_MS - 1);
    expect(written).toEqual([]);
    await round(ORPHANED_MS);
    expect(written).toMatchObject([
      { id: 'lost', status: 'Errored', nodes: ['n-1', 'n-2'], settled: false, conductor: 9 },
    ]);
  });

  it('leaves it alone while a worker renews its lease', async () => {
    const { state, written, round } = world();
    for (let at = 0; at <= 4 * ORPHANED_MS; at += ORPHANED_MS / 2) {
      state.lease++;
      await round(at);
    }
    expect(written).toEqual([]);
  });

  it('leaves it alone where a record is there after all, or none can be seen', async () => {
    const { state, written, round } = world();
    await round(0);
    state.live = false;
    await round(ORPHANED_MS);
    state.live = true;
    state.record = job('lost');
    await round(ORPHANED_MS + 1);
    expect(written).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { JobRecord, Reservations } from '#contracts';
import { settle } from '../plan/jobs/settle.js';
import { aNode } from '../testing/records.js';
import { lostJob, orphanHolds } from './orphan-holds.js';

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

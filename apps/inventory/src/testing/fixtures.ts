import type { JobRecord, NodeRecord } from '#contracts';
import { aNode as healthyNode } from '#contracts/testing/a-node.js';

/** A node of a spec: Unallocated, Discovered and UP unless said otherwise. */
export const aNode = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  healthyNode(name, {
    networks: { management: { address: `10.0.0.${name.length}` } },
    status: 'Unallocated',
    prevStatus: 'Incomplete',
    ...o,
  });

export function aJob(o: Partial<JobRecord> = {}): JobRecord {
  return {
    id: 'job-1',
    kind: 'commission',
    nodes: ['a-1'],
    status: 'Complete',
    desc: '',
    extraVars: {},
    task: 'site',
    error: '',
    createdAt: 1,
    startedAt: 2,
    endedAt: 3,
    by: 'spec',
    generation: 1,
    results: {},
    settled: false,
    ...o,
  };
}

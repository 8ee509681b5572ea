import type { JobRecord, NodeRecord } from '#contracts';
import { newNode } from '../nodes/new-node.js';

/** A node of a spec: Unallocated, Discovered and UP unless said otherwise. */
export function aNode(name: string, o: Partial<NodeRecord> = {}): NodeRecord {
  const [label = name, serial = '1'] = name.split('-');
  const node = newNode({ label, serial, networks: { management: { address: `10.0.0.${name.length}` } } }, 1);
  return { ...node, name, state: 'Discovered', prevState: 'Unknown', ...o };
}

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

import type { JobRecord, NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';

/** A worker. */
export const node = (name: string, more: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { hostGroup: 'service-worker', ...more });

export const job = (id: string, more: Partial<JobRecord> = {}): JobRecord => ({
  id,
  kind: 'commission',
  nodes: ['n1'],
  status: 'Queued',
  desc: '',
  extraVars: {},
  task: '',
  error: '',
  createdAt: 0,
  by: 'spec',
  generation: 0,
  results: {},
  settled: false,
  ...more,
});

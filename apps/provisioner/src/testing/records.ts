import type { JobRecord, NodeRecord } from '#contracts';

export const node = (name: string, more: Partial<NodeRecord> = {}): NodeRecord => ({
  name,
  label: name,
  serial: '0',
  hostGroup: 'service-worker',
  failureDomain: 'default',
  networks: { management: { address: '10.0.0.1' } },
  powerLevels: [],
  provisionDriver: 'ansible',
  vars: {},
  fencing: 'auto',
  enrolled: true,
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Discovered',
  createdAt: 0,
  ...more,
});

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

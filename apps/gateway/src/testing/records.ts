import { defaultFencing, type JobRecord, type NodeView, type StatusView, type WithRevision } from '#contracts';

/** A node as the recorded exchanges of the clusterm surface have it. */
export const node = (label: string, serial: string, more: Partial<NodeView> = {}): NodeView => ({
  name: `${label}-${serial}`,
  label,
  serial,
  failureDomain: 'default',
  networks: { management: { address: `127.0.0.${label.replace(/\D/g, '') || '1'}` } },
  powerLevels: [],
  provisionDriver: 'ansible',
  vars: {},
  fencing: 'auto',
  enrolled: true,
  status: 'Unallocated',
  prevStatus: 'Incomplete',
  state: 'Discovered',
  prevState: 'Unknown',
  createdAt: 0,
  revision: 7,
  inService: false,
  reasons: [{ code: 'STATUS', detail: 'Unallocated' }],
  ...more,
});

export const job = (id: string, more: Partial<JobRecord> = {}): WithRevision<JobRecord> => ({
  id,
  kind: 'commission',
  nodes: ['host1-SN1'],
  status: 'Running',
  desc: 'commissionEvent: nodes:[host1-SN1] extra-vars:{} host-group:service-master',
  extraVars: {},
  task: 'site.yml',
  error: '',
  createdAt: 1,
  by: 'local',
  generation: 1,
  results: {},
  settled: false,
  revision: 3,
  ...more,
});

export const status = (more: Partial<StatusView> = {}): StatusView => ({
  cluster: 'spec',
  fencing: defaultFencing,
  leases: [{ name: 'conductor', holder: 'inventory-1', token: 5, ageMs: 250 }],
  detector: { sighted: true, members: 2, reporters: 2 },
  brake: { candidates: 0, limit: 2 },
  fenceable: { proven: 0, unproven: 0, drilled: 0, mismatch: [] },
  nodes: { total: 2, inService: 1, out: [], troubled: [] },
  incidents: [],
  jobs: { Queued: 2, Running: 1, Complete: 40, Errored: 3 },
  workloads: { total: 0, running: 0, wrong: 0, worst: [] },
  weaknesses: [],
  alarms: [
    {
      code: 'brake',
      subject: 'fleet',
      severity: 'critical',
      message: 'held',
      since: 1,
      count: 1,
      remedy: { text: 'look', command: 'muster storm get' },
    },
  ],
  missingDrivers: [{ driver: 'ipmitool', nodes: ['host2-SN2'] }],
  workers: [
    { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'], incarnation: 'x', host: 'h', startedAt: 1, beat: 2 },
  ],
  ...more,
});

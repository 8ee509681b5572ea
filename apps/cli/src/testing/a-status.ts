import { defaultFencing, type StatusView } from '#contracts';

/** Of an installation in which all is well, and fencing is enforced. */
export const aStatus = (o: Partial<StatusView> = {}): StatusView => ({
  cluster: 'prod',
  fencing: { ...defaultFencing, mode: 'enforce' },
  leases: ['detector', 'conductor', 'fencer'].map((name) => ({ name, holder: `${name}-1`, token: 1, ageMs: 300 })),
  detector: { instance: 'detector-1', epoch: 1, sighted: true, members: 5, reporters: 5, beaconAgeMs: 400 },
  brake: { candidates: 0, limit: 2 },
  fenceable: { proven: 0, unproven: 0, drilled: 0, mismatch: [] },
  nodes: { total: 5, inService: 5, out: [], troubled: [] },
  incidents: [],
  jobs: { Queued: 0, Running: 0, Complete: 0, Errored: 0 },
  workloads: { total: 0, running: 0, wrong: 0, worst: [] },
  weaknesses: [],
  alarms: [],
  missingDrivers: [],
  workers: [],
  ...o,
});

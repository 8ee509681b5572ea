import type { WorkloadRecord } from '../workload/workload.js';

/** A workload for specs that shall run, and is assigned nowhere yet. */
export const aWorkload = (name: string, o: Partial<WorkloadRecord> = {}): WorkloadRecord => ({
  name,
  desired: 'running',
  priority: 0,
  weight: 1,
  recovery: { driver: 'ansible', spec: {} },
  generation: 0,
  ...o,
});

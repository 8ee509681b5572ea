import type { IncidentRecord } from '../incident/incident.js';

/** An incident for specs: under investigation, by a verdict, nothing ordered. */
export const anIncident = (node: string, o: Partial<IncidentRecord> = {}): IncidentRecord => ({
  id: `i-${node}`,
  node,
  phase: 'investigating',
  cause: 'auto',
  reason: 'all observers report it down',
  openedAt: 1,
  updatedAt: 1,
  bootId: `boot-${node}`,
  gates: [],
  conductor: 1,
  level: 0,
  attempt: 0,
  commands: [],
  recovery: [],
  steps: [],
  ...o,
});

import type { IncidentRecord } from '../incident/incident.js';
import type { JobRecord } from './job.js';
import type { NodeRecord } from '../node/node.js';

/**
 * Key of bucket `settings`: the highest token of any lease, kept apart from bucket `leases`. Whoever takes a lease gets
 * one above it and above all that the records hold, so tokens grow also where that bucket was lost or made anew.
 */
export const TOKEN_FLOOR_KEY = 'token-floor';
export interface TokenFloor {
  highest: number;
}

/** Highest token of a conductor in what it has written, and in what workers have answered to a lower one. */
export const conductorFloor = (incidents: Iterable<IncidentRecord>, jobs: Iterable<JobRecord>): number => {
  let highest = 0;
  for (const i of incidents) highest = Math.max(highest, i.conductor);
  for (const j of jobs) highest = Math.max(highest, j.conductor ?? 0, j.outranked ?? 0);
  return highest;
};

/** Highest token of a fencing leader in what it has written. */
export const fencerFloor = (incidents: Iterable<IncidentRecord>): number => {
  let highest = 0;
  for (const i of incidents) highest = Math.max(highest, i.epoch ?? 0, ...i.commands.map((c) => c.epoch));
  return highest;
};

/** Highest token of a detector in what rests on its verdicts. */
export const detectorFloor = (nodes: Iterable<NodeRecord>, incidents: Iterable<IncidentRecord> = []): number => {
  let highest = 0;
  for (const n of nodes) highest = Math.max(highest, n.verdict?.epoch ?? 0);
  for (const i of incidents) highest = Math.max(highest, i.verdict?.epoch ?? 0);
  return highest;
};

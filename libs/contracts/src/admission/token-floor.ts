import type { IncidentRecord } from '../incident/incident.js';
import type { JobRecord } from '../job/job.js';
import type { NodeRecord } from '../node/node.js';

/**
 * Key of bucket `settings`: the highest token of any lease, kept apart from bucket `leases`. Whoever takes a lease gets
 * one above it and above all that the records hold, so tokens grow also where that bucket was lost or made anew.
 */
export const TOKEN_FLOOR_KEY = 'token-floor';
export interface TokenFloor {
  highest: number;
}

/**
 * Key of bucket `settings`: which copy of the store this is. Absent: it was never loaded from a copy. Tokens of a later
 * generation are above all of an earlier one, so whoever remembers what came after the copy is outranked all the same.
 */
export const STORE_GENERATION_KEY = 'store-generation';
export interface StoreGeneration {
  /** Grows with every load: unix time of the load, s, or one more than any that is known. */
  generation: number;
  /**
   * Until somebody has acknowledged it. ISO times: of the last write that the copy has, or later, and of the load. `found`:
   * nobody loaded it, an inventory has found that its files were put back; what was under way in it was not ended then.
   */
  loaded?: { copied: string; at: string; found?: true };
}

/** Tokens of one generation: as many terms as a cluster has in years, and the year 2100 is within a whole number. */
const TOKENS_OF_GENERATION = 1e6;
/** Every token of this generation is above it. Generation 0 has no floor: it was never loaded. */
export const generationFloor = (generation: number): number => generation * TOKENS_OF_GENERATION;

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

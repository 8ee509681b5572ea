import type { JobKind, JobRecord } from './job.js';

/** What holds a node, and what it will do to it: rules over several nodes see it before the node's record follows. */
export interface Hold {
  job?: string;
  claim?: string;
  kind?: JobKind;
  /** Host group that the node will have. */
  hostGroup?: string;
  generation: number;
  at: number;
}

/** Bucket `admission`, key `reservations`: one value decides for all nodes of a request, or for none. */
export interface Reservations {
  /** Node → what holds it. */
  held: Record<string, Hold>;
  /** Jobs that were admitted, but whose nodes and record may not have followed yet: any replica completes them. */
  pending: Record<string, JobRecord>;
  /** Grows with every reservation. */
  generation: number;
}
export const RESERVATIONS_KEY = 'reservations';

/** Bucket `admission`, key `permits`: fencing permits, so that two deciders cannot both pass brake and cap. */
export interface Permits {
  granted: { incident: string; node: string; at: number }[];
}
export const PERMITS_KEY = 'permits';

import type { StormTrip } from '../incident/storm.js';
import type { JobKind, JobRecord } from '../job/job.js';

/** What holds a node, and what it will do to it: rules over several nodes see it before the node's record follows. */
export interface Hold {
  job?: string;
  claim?: string;
  /** An import or a replacement that is being written. */
  edit?: string;
  kind?: JobKind;
  /** A check that the conductor began by itself on a node in service: the node serves on meanwhile. */
  periodic?: true;
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
  /** Nodes that schedulers hold. Key: claim id. */
  claims?: Record<string, ClaimRecord>;
  /** Changes of several nodes at once that were accepted, but not all written yet: any replica completes them. */
  edits?: Record<string, { nodes: string[] }>;
  /**
   * The highest revision in bucket `nodes` that who freed a node had written before. Whoever decides from a view waits
   * until it shows that one: then it shows what every job that has ended has made of its nodes.
   */
  nodesAt?: number;
  /** Grows with every reservation. */
  generation: number;
}
/** Serviceable nodes, held for a scheduler outside until it gives them back or `expiresAt` has passed. */
export interface ClaimRecord {
  id: string;
  owner: string;
  nodes: string[];
  hostGroup?: string;
  selector?: string;
  by: string;
  at: number;
  /** Wall clock, ms. Absent: until it is deleted. */
  expiresAt?: number;
  /** Its nodes were not looked at again yet: who asked was not told of it. Given up after half a minute. */
  pending?: true;
}
export const RESERVATIONS_KEY = 'reservations';

/** Bucket `admission`, key `permits`: fencing permits, so that two deciders cannot both pass brake and cap. */
export interface Permits {
  granted: { incident: string; node: string; at: number }[];
  /** Storms that stand. */
  trips?: StormTrip[];
  /**
   * Checkpoint: what is how old, ms, on the writer's monotonic clock, at most {@link AGES_EVERY_MS} ago. With a reader's own
   * time since it saw this an age is never more than it is, whoever restarts.
   */
  ages?: Record<string, number>;
  /** The last end of a blindness that was looked at: the detector's epoch and sequence then. */
  blindness?: { epoch: number; seq: number };
}
/** Between two checkpoints of ages, ms. */
export const AGES_EVERY_MS = 10_000;
export const PERMITS_KEY = 'permits';

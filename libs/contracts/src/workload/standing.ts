import type { Remedy } from '../remedies/remedy.js';
import type { WorkloadRecord } from './workload.js';

/** What is with a workload, by what it should do and what is seen of it. */
export const WorkloadStates = [
  /** As it should be. */
  'running',
  'stopped',
  /** On its way there. */
  'starting',
  'stopping',
  /** Should run and does not. */
  'dead',
  'held',
  'no-room',
  'failing',
  'missing',
  'waiting',
  /** Runs where, or although, it should not. */
  'elsewhere',
  'still-running',
  /** Nobody can say. */
  'unknown',
] as const;
export type WorkloadState = (typeof WorkloadStates)[number];

/** States in which nothing needs anybody. */
const fine: readonly WorkloadState[] = ['running', 'stopped', 'starting', 'stopping'];
export const isFine = (s: WorkloadState): boolean => fine.includes(s);

/** Computed at every read, never stored: beside `desired`, what is. */
export interface WorkloadStanding {
  state: WorkloadState;
  /** Where it is seen. */
  seenOn?: string;
  /** ms since the report of its node that this rests on; absent: its node was never heard by who answers. */
  reportAgeMs?: number;
  /** Why it is not as it should be, in one sentence. */
  why?: string;
  /** What to do about it. */
  remedy?: Remedy;
}

/** A workload as answered to readers: the record, and what is computed. */
export interface WorkloadView extends WorkloadRecord {
  actual: WorkloadStanding;
}

import type { Report, WorkloadRecord } from '#contracts';
import { retryAfterMs } from './recover-job.js';

/**
 * A report that was on its way when the stop was read back still names the workload: only who names it for this long
 * after is believed to run it, ms.
 */
export const STILL_RUNS_MS = 3_000;

/** What is known of a workload that shall not run, or not there. */
export interface StopFacts {
  workload: WorkloadRecord;
  /** Its node's own fresh report; undefined: the node is silent. */
  report: Pick<Report, 'workloads'> | undefined;
  /** ms that its node has been naming it in every look, on the asker's own clock. */
  seenForMs: number;
  /** ms since the last try failed, on the asker's own clock. */
  sinceFailureMs: number;
  /** Its node's own looks have left it out, without a break, and the last one began after its gate was shut. */
  isAbsentLongEnough: boolean;
  /** Its node may start it without asking, or that is not known: its gate cannot be shut there. */
  isUngated: boolean;
}

/** `wait`: nothing can be done now. `done`: stopped, or nowhere. */
export type StopStep = 'wait' | 'done' | 'owe' | 'give' | 'follow' | 'read-back';

/** The next step towards "it does not run there". Its node's word decides; a silent node is never taken for a stopped workload. */
export function stopStep(f: StopFacts): StopStep {
  const { workload: w, report } = f;
  const moves = w.move !== undefined && w.stop !== undefined;
  if (w.assignment === undefined || (w.desired !== 'stopped' && !moves)) return 'done';
  if (w.stop === undefined) return runsThere(f) && f.seenForMs >= STILL_RUNS_MS ? 'owe' : 'done';
  if (w.stop.job !== undefined) return 'follow';
  // It belongs to somebody else, who cannot be ordered from here: what its node says is the read-back.
  if (w.recovery.driver !== 'ansible') return saysNo(f) ? 'read-back' : 'wait';
  // A dead node is the business of its incident, which takes the workload away.
  if (report === undefined) return 'wait';
  if (hasLeft(f)) return 'read-back';
  return retryLeftMs(f) === 0 ? 'give' : 'wait';
}

/**
 * A host that is bad (a full disk, no ssh, no Python) carries out no stop, while its agent says each second that it does
 * not run there. To wait for that stop would keep it from running anywhere. What shall not run at all waits all the same:
 * its unit is to be disabled, too.
 */
const hasLeft = (f: StopFacts): boolean =>
  f.workload.desired === 'running' &&
  (f.workload.stop?.attempt ?? 0) > 0 &&
  saysNo(f) &&
  f.isAbsentLongEnough &&
  !f.isUngated;

/** Its node says what it runs, and it is not among that, be it as being started. */
const saysNo = (f: Pick<StopFacts, 'workload' | 'report'>): boolean =>
  f.report?.workloads !== undefined && !runsThere(f);

/** Until a stop that failed is tried again, ms; 0: none failed, or it is due. */
export function retryLeftMs({ workload: w, sinceFailureMs }: StopFacts): number {
  const attempt = w.stop?.attempt ?? 0;
  return attempt === 0 ? 0 : Math.max(0, retryAfterMs(attempt) - sinceFailureMs);
}

export const runsThere = (f: Pick<StopFacts, 'workload' | 'report'>): boolean =>
  f.report?.workloads?.some((r) => r.name === f.workload.name) === true;

import { MusterError, type NodeRecord, type WorkloadRecord } from '#contracts';
import { isStopped } from '#domain/workload/owed-start.js';
import { isNeverHeard } from './standing.js';

export interface ForgetFacts {
  workload: WorkloadRecord;
  /** Its node's record; undefined: it is on none. */
  node: NodeRecord | undefined;
  /** A report of that node was heard by who asks. */
  heard: boolean;
  /** An operator answers for it that it does not run. */
  reason: string | undefined;
}

/**
 * Why a workload cannot be forgotten; undefined: it can. While it may run nobody would stop it any more, and a new one of
 * its name could be started beside it. On a node that was never heard nothing can be stopped and nothing was ever started
 * by Muster: there an operator's word counts.
 */
export function refusedForget(f: ForgetFacts): MusterError | undefined {
  const { workload: w, node } = f;
  if (isStopped(w)) return undefined;
  const at = w.assignment?.node ?? '?';
  const isUnheard = !f.heard && (node === undefined || isNeverHeard(node));
  if (isUnheard && f.reason !== undefined) return undefined;
  const way = isUnheard
    ? `${at} was never heard. If you know that it does not run there: muster workload delete ${w.name} --reason "…".`
    : `set it to "desired": "stopped" and wait until that is read back. Where ${at} is dead, have it fenced (muster node fence ${at} --reason "…") or confirm that it is down (muster incident confirm ${at} --reason "…").`;
  return new MusterError(
    'WORKLOAD_RUNNING',
    `"${w.name}" ${w.stop === undefined ? 'runs' : 'is not yet stopped'} on ${at}: ${way}`,
    { workload: w.name, node: at },
  );
}

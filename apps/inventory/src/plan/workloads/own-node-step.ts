import type { NodeRecord, Report, WorkloadRecord } from '#contracts';
import { maySwitchNode } from '#domain/workload/owed-start.js';
import { isMassReturn, isOnItsWay, type Serving } from '#domain/workload/own-node.js';

/** A lost workload whose node is not in service again after this is started elsewhere, ms. */
export const MOVE_AFTER_MS = 10_000;

/** What is known of a workload whose start is owed on a node that is out of service. */
export interface OwnNodeFacts {
  workload: WorkloadRecord;
  node: string;
  /** The node's record; undefined: it was deleted. */
  own: NodeRecord | undefined;
  /** Why it is out of service. */
  why: string;
  /** For how long it has been waited for, ms, on the asker's own clock. */
  waitedMs: number;
  serving: () => Serving;
  /** A boot of the node may start it without asking. */
  startsByItself: boolean;
  /** The node's own fresh report; undefined: it is silent. */
  report: Pick<Report, 'workloads'> | undefined;
}

/** `elsewhere`: it is placed anew, where there is room. */
export type OwnNodeStep = { do: 'wait'; leftMs: number } | { do: 'hold' | 'elsewhere'; why: string };

/** The hold shuts a gate that is not there: its unit may wait for a disk, and is started whenever that comes. */
const byItself = (node: string): string =>
  `A boot of ${node} may start it without asking, however late, since it has no start gate there: it is started nowhere else. Bring ${node} into service, or drain it, and Muster starts it with a gate.`;

/** Its node is not in service: a lost one moves after a while, when the node itself says that it does not run there. */
export function ownNodeStep(f: OwnNodeFacts): OwnNodeStep {
  const { workload: w, own, report } = f;
  if (f.waitedMs < MOVE_AFTER_MS) return { do: 'wait', leftMs: MOVE_AFTER_MS - f.waitedMs };
  const waits = own !== undefined && isOnItsWay(own) && isMassReturn(f.serving());
  const few = waits ? ' Less than half of the fleet serves: it waits for its own node.' : '';
  const why = `${f.node} is out of service: ${f.why}.${few}`;
  // Its own look must be younger than the hold that closed the gate: the hold is at least MOVE_AFTER_MS old, the look
  // at most 5 s when it is reported, the report at most the freshness.
  const isAbsent = report?.workloads !== undefined && !report.workloads.some((r) => r.name === w.name);
  const isFree = maySwitchNode(w) && w.held !== undefined && isAbsent && !waits;
  if (isFree && f.startsByItself) return { do: 'hold', why: `${why} ${byItself(f.node)}` };
  return { do: isFree ? 'elsewhere' : 'hold', why };
}

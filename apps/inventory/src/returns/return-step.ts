import { MANAGEMENT, type IncidentPhase, type NodeRecord } from '#contracts';
import { FLAPPING } from './return.js';

export interface ReturnView {
  /** Phase of the node's incident, if it has one. */
  incident: IncidentPhase | undefined;
  /** The node is held by a job or a claim. */
  reserved: boolean;
  /** A power command may still take effect. */
  quarantined: boolean;
  /** Returns of this node in the last ten minutes, this one counted. */
  returns: number;
  /** More returns than this in ten minutes, and an operator is asked: the limit of the gate FLAPPING. */
  flaps: number;
  /** Its check could not be carried out just now: ms until the next try. */
  waitMs: number;
}

export type ReturnStep = { do: 'wait' } | { do: 'hold'; why: string } | { do: 'check' | 'resetup' };

/** Phases in which nothing is under way against the node or its workloads any more. */
export const quiet: readonly IncidentPhase[] = ['recovered', 'closed', 'survived', 'cancelled'];

/** What a node that came back needs next. */
export function returnStep(n: NodeRecord, v: ReturnView): ReturnStep {
  const p = n.pendingReturn;
  if (!p || p.held !== undefined || n.status !== 'Allocated') return { do: 'wait' };
  if (!isReachable(n) || v.reserved) return { do: 'wait' };
  if (v.incident !== undefined && !quiet.includes(v.incident)) return { do: 'wait' };
  if (v.quarantined || v.waitMs > 0) return { do: 'wait' };
  if (v.returns > v.flaps) return { do: 'hold', why: `${FLAPPING}: ${v.returns} returns in ten minutes` };
  return { do: p.next === 'resetup' ? 'resetup' : 'check' };
}

/**
 * A node that was taken out of service, is back, and for whose return nobody waits: it came while no inventory ran, or
 * under a job. It gets its check all the same.
 */
export const isUnseenReturn = (n: NodeRecord, v: Pick<ReturnView, 'incident' | 'reserved'>): boolean =>
  n.status === 'Allocated' &&
  n.maintenance !== undefined &&
  n.pendingReturn === undefined &&
  !v.reserved &&
  (v.incident === undefined || quiet.includes(v.incident)) &&
  isReachable(n);

/** Heard, and ssh has a way there. A node without an agent is known by what external monitors say. */
function isReachable(n: NodeRecord): boolean {
  if (n.state !== 'Discovered' || n.confirmedOff !== undefined) return false;
  if (!n.enrolled) return true;
  const v = n.verdict;
  return v?.verdict === 'UP' || (v?.verdict === 'DEGRADED' && !v.networks.includes(MANAGEMENT));
}

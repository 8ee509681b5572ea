import type { IncidentPhase, NodeRecord, PendingReturn } from '#contracts';
import { quietPhases } from '#domain/incident/phases.js';
import { isReachable } from '#domain/verdict/heard.js';
import { retryDelayMs, type RetryPolicy } from '../conductor/retry-policy.js';
import { FLAPPING } from './return.js';
import type { WorkThere } from './work-there.js';

/** A node that does not say whether it runs what is assigned to it is waited for so long; then an operator is told, ms. */
export const SAYS_NOTHING_MS = 30_000;

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
  /** What a cleanup would end. Asked for only where one is due, or held for that. */
  work: () => WorkThere;
  /** ms for which that has been unknown, on the asker's own clock. */
  unknownMs: number;
}

export type ReturnStep =
  | { do: 'wait' }
  | { do: 'hold'; why: string; by?: 'work' }
  /** Nothing runs there any more: its hold for that is over, and it is checked anew. */
  | { do: 'lift' }
  | { do: 'check' | 'resetup' };

/** What a node that came back needs next. */
export function returnStep(n: NodeRecord, v: ReturnView): ReturnStep {
  const p = n.pendingReturn;
  if (!p || (p.held !== undefined && p.heldBy !== 'work') || n.status !== 'Allocated') return { do: 'wait' };
  if (!isReachable(n) || v.reserved) return { do: 'wait' };
  if (v.incident !== undefined && !quietPhases.includes(v.incident)) return { do: 'wait' };
  if (v.quarantined || v.waitMs > 0) return { do: 'wait' };
  if (p.held !== undefined) return { do: v.work().kind === 'none' ? 'lift' : 'wait' };
  if (v.returns > v.flaps) return { do: 'hold', why: `${FLAPPING}: ${v.returns} returns in ten minutes` };
  return p.next === 'resetup' ? resetupStep(p, v) : { do: 'check' };
}

/** A re-setup begins with a cleanup, which must end nothing that runs. */
function resetupStep(p: PendingReturn, v: ReturnView): ReturnStep {
  const work = v.work();
  if (work.kind === 'none') return { do: 'resetup' };
  if (work.kind === 'unknown' && v.unknownMs < SAYS_NOTHING_MS) return { do: 'wait' };
  const what = work.kind === 'runs' ? `it runs ${work.workloads.join(', ')}` : work.why;
  return { do: 'hold', by: 'work', why: `drift, needs operator (${what}): ${p.found ?? 'see its last check'}` };
}

/** Between two tries of a check that ssh did not get to the node with. */
const UNREACHED: RetryPolicy = { firstMs: 5_000, growth: 2, mostMs: 60_000 };
/** Between two tries of one that failed otherwise: a person has to mend it. */
const FAILED: RetryPolicy = { firstMs: 5_000, growth: 2, mostMs: 300_000 };

/** Tries of its check that have failed so far; after each, ms until the next. */
export const failedTries = (p: PendingReturn | undefined): { tries: number; waitMs: number } => {
  const unreached = p?.unreached?.tries ?? 0;
  const failed = p?.failedTries ?? 0;
  return {
    tries: failed + unreached,
    waitMs: unreached > 0 ? retryDelayMs(UNREACHED, unreached) : retryDelayMs(FAILED, failed),
  };
};

/**
 * A node that was taken out of service, is back, and for whose return nobody waits: it came while no inventory ran, or
 * under a job. It gets its check all the same.
 */
export const isUnseenReturn = (n: NodeRecord, v: Pick<ReturnView, 'incident' | 'reserved'>): boolean =>
  n.status === 'Allocated' &&
  n.maintenance !== undefined &&
  n.pendingReturn === undefined &&
  !v.reserved &&
  (v.incident === undefined || quietPhases.includes(v.incident)) &&
  isReachable(n);

import { FLAPPING, type IncidentPhase, type NodeRecord, type PendingReturn } from '#contracts';
import { quietPhases } from '../incident/phases.js';
import { isReachable } from '../verdict/heard.js';

/** A node that does not say whether it runs what is assigned to it is waited for so long; then an operator is told, ms. */
export const SAYS_NOTHING_MS = 30_000;

/** Does anything run on a node that a cleanup would end? */
export type WorkThere =
  | { kind: 'none' }
  | { kind: 'runs'; workloads: string[] }
  /** Something is assigned to it, and it cannot be said yet whether it runs: a sentence about the node. */
  | { kind: 'unknown'; why: string };

/** What is known of a node that came back, besides its record. */
export interface ReturnView {
  /** Phase of the node's incident, if it has one. */
  incident: IncidentPhase | undefined;
  /** The node is held by a job or an edit. */
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

/** A return that is pending, the node's record, and what else is known of it. */
interface ReturnCase {
  p: PendingReturn;
  n: NodeRecord;
  v: ReturnView;
}

interface ReturnRow {
  when: (c: ReturnCase) => boolean;
  step: (c: ReturnCase) => ReturnStep;
}

const wait = (): ReturnStep => ({ do: 'wait' });
const holdForWork = ({ p, v }: ReturnCase): ReturnStep => {
  const work = v.work();
  const what = work.kind === 'unknown' ? work.why : `it runs ${work.kind === 'runs' ? work.workloads.join(', ') : ''}`;
  return { do: 'hold', by: 'work', why: `drift, needs operator (${what}): ${p.found ?? 'see its last check'}` };
};

/**
 * What is done with a node that came back, by the first row that holds, in this order; where none does, it is waited for.
 * A check touches nothing; a re-setup begins with a cleanup, which must end nothing that runs.
 */
const returnTable: Readonly<Record<string, ReturnRow>> = {
  OPERATOR_ASKED: { when: ({ p }) => p.held !== undefined && p.heldBy !== 'work', step: wait },
  /** An operator is at it, or wants it as it is; the end of the cordon is a change, at which it is looked at again. */
  CORDONED: { when: ({ n }) => n.cordon !== undefined, step: wait },
  NOT_ALLOCATED: { when: ({ n }) => n.status !== 'Allocated', step: wait },
  NOT_REACHABLE: { when: ({ n }) => !isReachable(n), step: wait },
  RESERVED: { when: ({ v }) => v.reserved, step: wait },
  INCIDENT: { when: ({ v }) => !isQuiet(v.incident), step: wait },
  QUARANTINED: { when: ({ v }) => v.quarantined, step: wait },
  CHECKED_IN_VAIN: { when: ({ v }) => v.waitMs > 0, step: wait },
  WORK_GONE: { when: ({ p, v }) => p.held !== undefined && v.work().kind === 'none', step: () => ({ do: 'lift' }) },
  HELD_FOR_WORK: { when: ({ p }) => p.held !== undefined, step: wait },
  FLAPPING: {
    when: ({ v }) => v.returns > v.flaps,
    step: ({ v }) => ({ do: 'hold', why: `${FLAPPING}: ${v.returns} returns in ten minutes` }),
  },
  NOT_CHECKED: { when: ({ p }) => p.next !== 'resetup', step: () => ({ do: 'check' }) },
  NO_WORK: { when: ({ v }) => v.work().kind === 'none', step: () => ({ do: 'resetup' }) },
  WORK_RUNS: { when: ({ v }) => v.work().kind === 'runs', step: holdForWork },
  WORK_UNKNOWN: { when: ({ v }) => v.unknownMs >= SAYS_NOTHING_MS, step: holdForWork },
};

/** What a node that came back needs next. */
export function returnStep(n: NodeRecord, v: ReturnView): ReturnStep {
  const p = n.pendingReturn;
  if (p === undefined) return wait();
  const c = { p, n, v };
  return (
    Object.values(returnTable)
      .find((row) => row.when(c))
      ?.step(c) ?? wait()
  );
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
  isQuiet(v.incident) &&
  isReachable(n);

const isQuiet = (incident: IncidentPhase | undefined): boolean =>
  incident === undefined || quietPhases.includes(incident);

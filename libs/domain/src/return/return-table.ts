import { FLAPPING, type IncidentPhase, type NodeRecord, type PendingReturn } from '#contracts';
import { quietPhases } from '../incident/phases.js';
import { isReachable } from '../verdict/heard.js';
import type { ReturnStage } from './stage.js';

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

export type ReturnRow = {
  when: (c: ReturnCase) => boolean;
  /** Stages that it ends, where it ends one. */
  from: readonly ReturnStage[];
  /** For people. */
  reason: string;
} & ({ do: Exclude<ReturnStep['do'], 'hold'> } | { do: 'hold'; why: (c: ReturnCase) => string; by?: 'work' });

const forWork = ({ p, v }: ReturnCase): string => {
  const work = v.work();
  const what = work.kind === 'unknown' ? work.why : `it runs ${work.kind === 'runs' ? work.workloads.join(', ') : ''}`;
  return `drift, needs operator (${what}): ${p.found ?? 'see its last check'}`;
};

/**
 * What is done with a node that came back, by the first row that holds, in this order; where none does, it is waited for.
 * A check touches nothing; a re-setup begins with a cleanup, which must end nothing that runs.
 */
export const returnTable = {
  OPERATOR_ASKED: {
    when: ({ p }) => p.held !== undefined && p.heldBy !== 'work',
    do: 'wait',
    from: [],
    reason: 'an operator is asked',
  },
  // The end of the cordon is a change, at which it is looked at again.
  CORDONED: {
    when: ({ n }) => n.cordon !== undefined,
    do: 'wait',
    from: [],
    reason: 'it is cordoned: an operator is at it, or wants it as it is',
  },
  NOT_ALLOCATED: {
    when: ({ n }) => n.status !== 'Allocated',
    do: 'wait',
    from: [],
    reason: 'it is not `Allocated` any more',
  },
  NOT_REACHABLE: {
    when: ({ n }) => !isReachable(n),
    do: 'wait',
    from: [],
    reason: 'it is not heard on `management`, or was proven off',
  },
  RESERVED: {
    when: ({ v }) => v.reserved,
    do: 'wait',
    from: [],
    reason: 'a job or an edit holds it',
  },
  INCIDENT: {
    when: ({ v }) => !isQuiet(v.incident),
    do: 'wait',
    from: [],
    reason: 'its incident is neither recovered nor over',
  },
  QUARANTINED: {
    when: ({ v }) => v.quarantined,
    do: 'wait',
    from: [],
    reason: 'a power command may still take effect: the power quarantine stands',
  },
  CHECKED_IN_VAIN: {
    when: ({ v }) => v.waitMs > 0,
    do: 'wait',
    from: [],
    reason: 'its last check could not be carried out, or its job was refused, and the backoff is not over',
  },
  WORK_GONE: {
    when: ({ p, v }) => p.held !== undefined && v.work().kind === 'none',
    do: 'lift',
    from: ['held for work'],
    reason: 'it is held for what runs there, and nothing does any more',
  },
  HELD_FOR_WORK: {
    when: ({ p }) => p.held !== undefined,
    do: 'wait',
    from: [],
    reason: 'it is held for what runs there',
  },
  FLAPPING: {
    when: ({ v }) => v.returns > v.flaps,
    do: 'hold',
    from: ['due', 'to be set up'],
    why: ({ v }) => `${FLAPPING}: ${v.returns} returns in ten minutes`,
    reason: 'it came back more often in ten minutes than `flaps`',
  },
  NOT_CHECKED: {
    when: ({ p }) => p.next !== 'resetup',
    do: 'check',
    from: ['due'],
    reason: 'its check is due',
  },
  NO_WORK: {
    when: ({ v }) => v.work().kind === 'none',
    do: 'resetup',
    from: ['to be set up'],
    reason: 'its re-setup is due, and nothing runs there',
  },
  WORK_RUNS: {
    when: ({ v }) => v.work().kind === 'runs',
    do: 'hold',
    by: 'work',
    from: ['to be set up'],
    why: forWork,
    reason: 'its re-setup is due, and would end what runs there',
  },
  WORK_UNKNOWN: {
    when: ({ v }) => v.unknownMs >= SAYS_NOTHING_MS,
    do: 'hold',
    by: 'work',
    from: ['to be set up'],
    why: forWork,
    reason: `its re-setup is due, and nobody has said for ${SAYS_NOTHING_MS / 1_000} s whether anything runs there`,
  },
} as const satisfies Readonly<Record<string, ReturnRow>>;

/** The stage that begins by it; none: its stage stays. */
export const stageByReturn = (row: ReturnRow): ReturnStage | undefined => {
  if (row.do === 'hold') return row.by === 'work' ? 'held for work' : 'held';
  return ({ wait: undefined, lift: 'due', check: 'checking', resetup: 'being set up' } as const)[row.do];
};

export type ReturnRowName = keyof typeof returnTable;

const rowNames = Object.keys(returnTable) as ReturnRowName[];
const rowOf = (name: ReturnRowName): ReturnRow => returnTable[name];

/** The row that decides about a node that came back; undefined: none does, it is waited for. */
export function returnRow(n: NodeRecord, v: ReturnView): ReturnRowName | undefined {
  const p = n.pendingReturn;
  return p && rowNames.find((name) => rowOf(name).when({ p, n, v }));
}

/** What a node that came back needs next. */
export function returnStep(n: NodeRecord, v: ReturnView): ReturnStep {
  const p = n.pendingReturn;
  const name = returnRow(n, v);
  if (p === undefined || name === undefined) return { do: 'wait' };
  const c = { p, n, v };
  const row = rowOf(name);
  if (row.do === 'hold') return { do: row.do, why: row.why(c), ...(row.by && { by: row.by }) };
  return { do: row.do };
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

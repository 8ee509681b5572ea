import type { HostGroup, PendingReturn } from '#contracts';
import type { CheckVerdict } from './check-verdict.js';
import { isNewerReturn } from './return.js';
import type { ReturnStage } from './stage.js';

/** What a check has found, and what else decides what is done about it. */
export interface CheckedView {
  verdict: CheckVerdict;
  /** It was begun for the return that is pending; one of an operator, or of an earlier return, was not. */
  isOfReturn: boolean;
  /** One of a node in service, by the period: it only looks. */
  isPeriodic: boolean;
  /** ssh did not get there, or was not let in. */
  isUnreached: boolean;
  /** Policy of the node's host group. */
  onReturn: NonNullable<HostGroup['onReturn']>;
}

export type CheckedStep =
  /** Nothing of it is kept: it may be about the boot before. */
  | { do: 'ignore' }
  /** It is kept as the node's last check, and what is pending stays. */
  | { do: 'note' }
  /** The return is over. */
  | { do: 'serve' }
  /** The return waits for its check once more; `reach`: ssh alone stood against it. */
  | { do: 'check' | 'reach'; why: string }
  | { do: 'hold'; why: string }
  | { do: 'resetup'; found: string; only?: string[] };

/** The return that is pending, if one is, and what its node's check has found. */
interface CheckedCase extends CheckedView {
  p: PendingReturn | undefined;
}

export type CheckedRow = {
  when: (c: CheckedCase) => boolean;
  /** Stages that it ends, where it ends one. */
  from: readonly ReturnStage[];
  /** For people. */
  reason: string;
} & ({ do: Exclude<CheckedStep['do'], 'hold'> } | { do: 'hold'; asks: string });

/**
 * What is done about a node whose check has ended, by the first row that holds, in this order; where none does, it is
 * noted. Nothing but a pass puts a node into service. What serves is not taken down for an edit, and nothing is set up
 * again that a person wants to be asked about.
 */
export const checkedTable = {
  NEWER_RETURN: {
    when: ({ p, isOfReturn }) => isNewerReturn(p, isOfReturn),
    do: 'ignore',
    from: [],
    reason: 'the node has come back once more since: what was found may be about the boot before',
  },
  PERIODIC: {
    when: ({ isPeriodic }) => isPeriodic,
    do: 'note',
    from: [],
    reason: 'it was one of a node in service, which changes nothing, whatever has become of the node meanwhile',
  },
  PASSED: {
    when: ({ verdict }) => verdict.outcome === 'pass',
    do: 'serve',
    from: ['checking', 'held', 'held for work'],
    reason: 'it has passed',
  },
  NO_WORD: {
    when: ({ verdict, isOfReturn }) => verdict.outcome === 'unknown' && !isOfReturn,
    do: 'note',
    from: [],
    reason: 'it could not be carried out, and no return waits for it',
  },
  UNREACHED: {
    when: ({ verdict, isUnreached }) => verdict.outcome === 'unknown' && isUnreached,
    do: 'reach',
    from: ['checking'],
    reason: 'ssh did not get there',
  },
  NOT_CARRIED_OUT: {
    when: ({ verdict }) => verdict.outcome === 'unknown',
    do: 'check',
    from: ['checking'],
    reason: 'it could not be carried out otherwise',
  },
  NO_RETURN: {
    when: ({ p }) => p === undefined,
    do: 'note',
    from: [],
    reason: 'it has found drift in a node in service: an alarm is raised, and the node stays',
  },
  STILL_HELD: {
    when: ({ isOfReturn }) => !isOfReturn,
    do: 'hold',
    asks: 'drift',
    from: ['held', 'held for work'],
    reason: 'one that an operator ordered has found drift in a node that is held',
  },
  ASK: {
    when: ({ onReturn }) => onReturn === 'ask',
    do: 'hold',
    asks: 'drift, needs operator (onReturn: ask)',
    from: ['checking'],
    reason: 'drift, and `onReturn` is `ask`',
  },
  CHECK_ONLY: {
    when: ({ onReturn }) => onReturn === 'check-only',
    do: 'hold',
    asks: 'drift, needs operator (onReturn: check-only)',
    from: ['checking'],
    reason: 'drift, and `onReturn` is `check-only`',
  },
  SERVES_UNCHANGED: {
    when: ({ verdict, p }) => verdict.serves === true && p?.reason !== 'rebooted',
    do: 'hold',
    asks: 'drift, needs operator (its services are well, in an unchanged boot)',
    from: ['checking'],
    reason: 'another effective configuration, but its services are well in an unchanged boot',
  },
  DRIFTED: {
    when: ({ verdict }) => verdict.outcome === 'drift',
    do: 'resetup',
    from: ['checking'],
    reason: 'drift, something broken, or another effective configuration',
  },
} as const satisfies Readonly<Record<string, CheckedRow>>;

/** The stage that begins by it; none: its stage stays. */
export const stageByCheck: Readonly<Record<CheckedStep['do'], ReturnStage | undefined>> = {
  ignore: undefined,
  note: undefined,
  serve: 'in service',
  check: 'due',
  reach: 'due',
  hold: 'held',
  resetup: 'to be set up',
};

/** What is done about a node whose check has ended. */
export function afterCheck(p: PendingReturn | undefined, v: CheckedView): CheckedStep {
  const row = Object.values<CheckedRow>(checkedTable).find((r) => r.when({ p, ...v }));
  const { why, only } = v.verdict;
  switch (row?.do) {
    case undefined:
      return { do: 'note' };
    case 'hold':
      return { do: row.do, why: `${row.asks}: ${why}` };
    case 'resetup':
      return { do: row.do, found: why, ...(only !== undefined && { only }) };
    case 'check':
    case 'reach':
      return { do: row.do, why };
    case 'ignore':
    case 'note':
    case 'serve':
      return { do: row.do };
  }
}

import type { PendingReturn } from '#contracts';
import { isNewerReturn } from './return.js';
import type { ReturnStage } from './stage.js';

/** What became of a re-setup. */
export interface ResetupView {
  /** All of it was installed. */
  ok: boolean;
  /** Something of it ran. */
  hasBegun: boolean;
  /** It was begun for the return that is pending; one of an operator, or of an earlier return, was not. */
  isOfReturn: boolean;
}

/**
 * `serve`: the return is over. `check`: the return that came meanwhile gets its check. `note`: the node is what it was.
 * `hold`: an operator is asked. `take-out`: so, too, and the node is out of service, half set up.
 */
export type ResetupStep = 'serve' | 'check' | 'note' | 'hold' | 'take-out';

/** The return that is pending, if one is, and what became of its node's re-setup. */
interface ResetupCase extends ResetupView {
  p: PendingReturn | undefined;
}

export interface ResetupRow {
  when: (c: ResetupCase) => boolean;
  do: ResetupStep;
  /** Stages that it ends, where it ends one. */
  from: readonly ReturnStage[];
  /** For people. */
  reason: string;
}

/**
 * What is done about a node whose re-setup has ended, by the first row that holds, in this order; where none does, it is
 * taken out of service. Nothing but an installation that nobody came back under puts a node into service.
 */
export const resetupTable = {
  CAME_AGAIN: {
    when: ({ p, isOfReturn, ok }) => ok && isNewerReturn(p, isOfReturn),
    do: 'check',
    from: [],
    reason: 'all was installed, but the node has come back once more since: what was done may be about the boot before',
  },
  CUT_SHORT: {
    when: ({ p, isOfReturn }) => isNewerReturn(p, isOfReturn) && p?.reason === 'rebooted',
    do: 'check',
    from: [],
    reason: 'the node has rebooted under it: the check of that boot decides',
  },
  INSTALLED: {
    when: ({ ok }) => ok,
    do: 'serve',
    from: ['being set up', 'held', 'held for work'],
    reason: 'all was installed',
  },
  REFUSED: {
    when: ({ hasBegun, isOfReturn }) => !hasBegun && isOfReturn,
    do: 'hold',
    from: ['being set up'],
    reason: 'it was refused before anything of it ran: the node is no worse for it',
  },
  NOT_BEGUN: {
    when: ({ hasBegun }) => !hasBegun,
    do: 'note',
    from: [],
    reason: 'nothing of it ran, and no return waits for it',
  },
  HALF_SET_UP: {
    when: ({ ok }) => !ok,
    do: 'take-out',
    from: ['due', 'checking', 'to be set up', 'being set up', 'held for work', 'in service'],
    reason: 'it has failed halfway',
  },
} as const satisfies Readonly<Record<string, ResetupRow>>;

/** The stage that begins by it; none: its stage stays. */
export const stageByResetup: Readonly<Record<ResetupStep, ReturnStage | undefined>> = {
  serve: 'in service',
  check: undefined,
  note: undefined,
  hold: 'held',
  'take-out': 'held',
};

/** What is done about a node whose re-setup has ended. */
export const afterResetup = (p: PendingReturn | undefined, v: ResetupView): ResetupStep =>
  Object.values<ResetupRow>(resetupTable).find((row) => row.when({ p, ...v }))?.do ?? 'take-out';

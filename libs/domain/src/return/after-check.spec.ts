import { describe, expect, it } from 'vitest';
import type { PendingReturn } from '#contracts';
import { afterCheck, checkedTable, type CheckedRow, type CheckedStep, type CheckedView } from './after-check.js';
import type { CheckVerdict } from './check-verdict.js';
import { returnStage } from './stage.js';

const pass: CheckVerdict = { outcome: 'pass', why: '' };
const unknown: CheckVerdict = { outcome: 'unknown', why: 'no route' };
const drift: CheckVerdict = { outcome: 'drift', why: 'web drift' };
const other: CheckVerdict = { outcome: 'drift', why: 'another configuration', serves: true };
const few: CheckVerdict = { ...drift, only: ['web'] };

const view: CheckedView = {
  verdict: pass,
  isOfReturn: true,
  isPeriodic: false,
  isUnreached: false,
  onReturn: 'resetup',
};
const back: PendingReturn = { reason: 'rebooted', at: 1, job: 'job-1' };
const newer: PendingReturn = { reason: 'rebooted', at: 2 };
const held: PendingReturn = { ...newer, held: 'drift' };
const ordered = { isOfReturn: false };

/** For each row facts of which no row before it holds. */
const cases: Record<
  keyof typeof checkedTable,
  [p: PendingReturn | undefined, v: Partial<CheckedView>, step: CheckedStep][]
> = {
  NEWER_RETURN: [
    [newer, ordered, { do: 'ignore' }],
    [{ ...newer, job: 'job-2' }, { ...ordered, verdict: drift }, { do: 'ignore' }],
    [newer, { ...ordered, isPeriodic: true }, { do: 'ignore' }],
  ],
  PERIODIC: [
    [undefined, { ...ordered, isPeriodic: true }, { do: 'note' }],
    [held, { ...ordered, isPeriodic: true, verdict: drift }, { do: 'note' }],
  ],
  PASSED: [
    [back, {}, { do: 'serve' }],
    [held, ordered, { do: 'serve' }],
    [undefined, ordered, { do: 'serve' }],
  ],
  NO_WORD: [
    [undefined, { ...ordered, verdict: unknown, isUnreached: true }, { do: 'note' }],
    [held, { ...ordered, verdict: unknown }, { do: 'note' }],
  ],
  UNREACHED: [[back, { verdict: unknown, isUnreached: true }, { do: 'reach', why: 'no route' }]],
  NOT_CARRIED_OUT: [[back, { verdict: unknown }, { do: 'check', why: 'no route' }]],
  NO_RETURN: [[undefined, { ...ordered, verdict: drift }, { do: 'note' }]],
  STILL_HELD: [[held, { ...ordered, verdict: drift }, { do: 'hold', why: 'drift: web drift' }]],
  ASK: [
    [
      back,
      { verdict: drift, onReturn: 'ask' },
      { do: 'hold', why: 'drift, needs operator (onReturn: ask): web drift' },
    ],
  ],
  CHECK_ONLY: [
    [
      back,
      { verdict: drift, onReturn: 'check-only' },
      { do: 'hold', why: 'drift, needs operator (onReturn: check-only): web drift' },
    ],
  ],
  SERVES_UNCHANGED: (['disappeared', 'degraded', 'first-seen'] as const).map((reason) => [
    { ...back, reason },
    { verdict: other },
    {
      do: 'hold',
      why: 'drift, needs operator (its services are well, in an unchanged boot): another configuration',
    },
  ]),
  DRIFTED: [
    [back, { verdict: drift }, { do: 'resetup', found: 'web drift' }],
    [back, { verdict: other }, { do: 'resetup', found: 'another configuration' }],
    [{ ...back, reason: 'degraded' }, { verdict: few }, { do: 'resetup', found: 'web drift', only: ['web'] }],
  ],
};

const reasons = ['disappeared', 'degraded', 'rebooted', 'first-seen'] as const;
const either = [true, false];
/** Every combination that there is: a return that is held has no job. */
const all: { p: PendingReturn | undefined; v: CheckedView }[] = [
  undefined,
  ...reasons.flatMap((reason): PendingReturn[] => [
    { reason, at: 1, job: 'job-1' },
    { reason, at: 1 },
    { reason, at: 1, held: 'drift' },
    { reason, at: 1, held: 'drift', heldBy: 'work' },
  ]),
].flatMap((p) =>
  [pass, unknown, drift, other, few].flatMap((verdict) =>
    either.flatMap((isPeriodic) =>
      either.flatMap((isUnreached) =>
        (['resetup', 'ask', 'check-only'] as const).map((onReturn) => ({
          p,
          v: { verdict, isPeriodic, isUnreached, onReturn, isOfReturn: p?.job !== undefined },
        })),
      ),
    ),
  ),
);
const rowsOf = (p: PendingReturn | undefined, v: CheckedView): CheckedRow[] =>
  Object.values<CheckedRow>(checkedTable).filter((row) => row.when({ p, ...v }));

describe('what is done about a node whose check has ended', () => {
  it.each(Object.entries(cases).flatMap(([row, list]) => list.map(([p, v, step]) => [row, p, v, step] as const)))(
    'is by %s',
    (name, p, v, step) => {
      expect(afterCheck(p, { ...view, ...v })).toEqual(step);
      expect(rowsOf(p, { ...view, ...v })[0]).toBe(checkedTable[name as keyof typeof checkedTable]);
    },
  );

  it('is said for every combination of facts by a row, and each row says it for some', () => {
    const used = new Set(all.map(({ p, v }) => rowsOf(p, v)[0]));
    expect(used).toEqual(new Set(Object.values(checkedTable)));
    for (const { p, v } of all) expect(afterCheck(p, v).do).toBe(rowsOf(p, v)[0]?.do);
  });

  it('is service only after a pass, and never by a check that only looks or is about the boot before', () => {
    for (const { p, v } of all) {
      const isAbout = !v.isPeriodic && (p === undefined || v.isOfReturn || p.held !== undefined);
      expect(afterCheck(p, v).do === 'serve').toBe(v.verdict.outcome === 'pass' && isAbout);
    }
  });

  it('is a re-setup only by the check of the return, where nobody is to be asked', () => {
    for (const { p, v } of all) {
      const isAsked = v.onReturn !== 'resetup' || (v.verdict.serves === true && p?.reason !== 'rebooted');
      const isDue = v.verdict.outcome === 'drift' && v.isOfReturn && !v.isPeriodic && !isAsked;
      expect(afterCheck(p, v).do === 'resetup').toBe(isDue);
    }
  });

  it('ends the stages that the row names', () => {
    for (const { p, v } of all) {
      const row = rowsOf(p, v)[0];
      if (p === undefined || row?.do === 'ignore' || row?.do === 'note') continue;
      expect(row?.from).toContain(returnStage(p));
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { PendingReturn } from '#contracts';
import { afterResetup, resetupTable, stageByResetup, type ResetupRow, type ResetupView } from './after-resetup.js';
import { returnStage } from './stage.js';

const reasons = ['disappeared', 'degraded', 'rebooted', 'first-seen'] as const;
const due: PendingReturn = { reason: 'disappeared', at: 1, next: 'resetup', job: 'job-1' };
const newer: PendingReturn = { reason: 'disappeared', at: 2 };
const reboot: PendingReturn = { reason: 'rebooted', at: 2 };
const held: PendingReturn = { ...newer, held: 'drift' };
const done: ResetupView = { ok: true, hasBegun: true, isOfReturn: true };
const failed: ResetupView = { ...done, ok: false };
const refused: ResetupView = { ...failed, hasBegun: false };
const other = { isOfReturn: false };

/** For each row facts of which no row before it holds. */
const cases: Record<keyof typeof resetupTable, [p: PendingReturn | undefined, v: ResetupView, step: string][]> = {
  CAME_AGAIN: [[newer, { ...done, ...other }, 'check']],
  CUT_SHORT: [
    [reboot, { ...failed, ...other }, 'check'],
    [reboot, { ...refused, ...other }, 'check'],
  ],
  INSTALLED: [
    [due, done, 'serve'],
    [held, { ...done, ...other }, 'serve'],
    [undefined, { ...done, ...other }, 'serve'],
  ],
  REFUSED: [[due, refused, 'hold']],
  NOT_BEGUN: [
    [undefined, { ...refused, ...other }, 'note'],
    [held, { ...refused, ...other }, 'note'],
  ],
  HALF_SET_UP: [
    [due, failed, 'take-out'],
    [{ ...due, reason: 'rebooted' }, failed, 'take-out'],
    [newer, { ...failed, ...other }, 'take-out'],
    [undefined, { ...failed, ...other }, 'take-out'],
  ],
};

const all: { p: PendingReturn | undefined; v: ResetupView }[] = [
  undefined,
  ...reasons.flatMap((reason): PendingReturn[] => [
    { ...due, reason },
    { ...newer, reason },
    { ...held, reason },
    { ...held, reason, heldBy: 'work' },
  ]),
].flatMap((p) => [done, failed, refused].map((v) => ({ p, v: { ...v, isOfReturn: p?.job !== undefined } })));
const rowOf = (p: PendingReturn | undefined, v: ResetupView): ResetupRow | undefined =>
  Object.values<ResetupRow>(resetupTable).find((row) => row.when({ p, ...v }));

describe('what is done about a node whose re-setup has ended', () => {
  it.each(Object.entries(cases).flatMap(([row, list]) => list.map(([p, v, step]) => [row, p, v, step] as const)))(
    'is by %s',
    (name, p, v, step) => {
      expect(afterResetup(p, v)).toBe(step);
      expect(rowOf(p, v)).toBe(resetupTable[name as keyof typeof resetupTable]);
    },
  );

  it('is said for every combination of facts by a row, and each row says it for some', () => {
    expect(new Set(all.map(({ p, v }) => rowOf(p, v)))).toEqual(new Set(Object.values(resetupTable)));
    for (const { p, v } of all) expect(afterResetup(p, v)).toBe(rowOf(p, v)?.do);
  });

  it('is service only where all was installed, and nobody came back since', () => {
    for (const { p, v } of all)
      expect(afterResetup(p, v) === 'serve').toBe(v.ok && (p === undefined || v.isOfReturn || p.held !== undefined));
  });

  it('ends the stages that the row names', () => {
    for (const { p, v } of all) {
      const stage = returnStage(p);
      const to = stageByResetup[afterResetup(p, v)];
      if (to !== undefined && to !== stage) expect(rowOf(p, v)?.from).toContain(stage);
    }
  });
});

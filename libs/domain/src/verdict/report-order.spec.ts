import { describe, expect, it } from 'vitest';
import {
  isLateForVotes,
  isLateForWork,
  isNamesake,
  NEW_MACHINE_MS,
  NEW_SYSTEM_MS,
  type ReportMark,
} from './report-order.js';

const kept: ReportMark = { epoch: 5, seq: 10, bootId: 'a' };
/** The last report is: fresh, at the two ages and one before them. */
const ages = [0, NEW_MACHINE_MS - 1, NEW_MACHINE_MS, NEW_SYSTEM_MS - 1, NEW_SYSTEM_MS];
const judged = (o: Partial<ReportMark>): string[] =>
  ages.map((ageMs) => {
    const was = { report: kept, ageMs };
    const report = { ...kept, ...o };
    return [
      isNamesake(was, report) && 'namesake',
      isLateForVotes(was, report) && 'votes',
      isLateForWork(was, report) && 'work',
    ]
      .filter((word) => word !== false)
      .join('+');
  });

describe('a report that comes after another one of its node', () => {
  it.each<[string, Partial<ReportMark>, string[]]>([
    ['the next one counts for all', { seq: 11 }, ['', '', '', '', '']],
    ['a copy', {}, ages.map(() => 'votes+work')],
    ['an earlier one', { seq: 9 }, ages.map(() => 'votes+work')],
    ['a later start in the same boot', { epoch: 6, seq: 1 }, ['', '', '', '', '']],
    ['a later start in another boot', { epoch: 6, seq: 1, bootId: 'b' }, ['', '', '', '', '']],
    [
      'an earlier start in the same boot',
      { epoch: 4, seq: 99 },
      ['votes+work', 'votes+work', 'votes+work', 'votes+work', 'work'],
    ],
    [
      'an earlier start in another boot',
      { epoch: 4, seq: 99, bootId: 'b' },
      ['votes+work', 'votes+work', 'votes', 'votes', ''],
    ],
    [
      'the same start in another boot, with a greater number',
      { seq: 11, bootId: 'b' },
      ['namesake+work', 'namesake+work', 'namesake', 'namesake', ''],
    ],
    [
      'the same start in another boot, with a lower number',
      { seq: 9, bootId: 'b' },
      ['namesake+votes+work', 'namesake+votes+work', 'namesake+votes', 'namesake+votes', ''],
    ],
  ])('%s', (_what, o, late) => {
    expect(judged(o)).toEqual(late);
  });
});

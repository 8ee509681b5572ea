import { describe, expect, it } from 'vitest';

interface Run {
  commit: string;
  date: string;
  seed: number;
  scenarios: { name: string }[];
  earlier?: { name: string }[];
}
const { earlierRuns } = (await import('../../scripts/tests/earlier-runs.mjs' as string)) as {
  earlierRuns: (before: Run | undefined, now: readonly { name: string }[]) => { name: string }[];
};

const run = (commit: string, ...names: string[]) => ({
  ...{ commit, date: `of ${commit}`, seed: 7 },
  scenarios: names.map((name) => ({ name, ok: true })),
});
const was = (commit: string, name: string) => ({ name, ok: true, commit, date: `of ${commit}`, seed: 7 });

describe('scenarios that are run again one after the other', () => {
  it('keep the last run of each, with its commit', () => {
    const first = run('a', 'D1', 'R15');
    expect(earlierRuns(undefined, first.scenarios)).toEqual([]);
    const second = { ...run('b', 'R15', 'V7'), earlier: earlierRuns(first, run('b', 'R15', 'V7').scenarios) };
    expect(second.earlier).toEqual([was('a', 'D1')]);
    expect(earlierRuns(second, run('c', 'V7').scenarios)).toEqual([was('a', 'D1'), was('b', 'R15')]);
    expect(earlierRuns(second, run('c', 'D1', 'D2').scenarios)).toEqual([was('b', 'R15'), was('b', 'V7')]);
  });
});

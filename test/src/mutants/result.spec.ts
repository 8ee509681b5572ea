import { describe, expect, it } from 'vitest';
import { isTimeout, restOf, resultOf, type Entry, type MutantsResult } from './result.js';

const run = { commit: 'c2', dirty: false, date: '2026-11-23T04:00:00.000Z', machine: { cores: 2 } };
const tables = [
  { area: 'lease', name: 'a', content: 'now' },
  { area: 'lease', name: 'b', content: 'now' },
  { area: 'keys', name: 'a', content: 'now' },
];
const entry = (o: Partial<Entry> = {}): Entry => ({
  area: 'lease',
  name: 'a',
  killedBy: 'lease.spec.ts › holds',
  why: 'Error: expect(received).toBe(expected)',
  commit: 'c1',
  dirty: false,
  content: 'now',
  seconds: 2,
  ...o,
});
const resultOfRuns = (mutants: readonly Entry[], bySims: readonly Entry[] = []): MutantsResult =>
  resultOf({ mutants, bySims }, tables, run);

describe('the result of runs of mutants', () => {
  it('says of each area how many were tried, killed, alive, killed by a time limit alone, and are left', () => {
    const result = resultOfRuns([
      entry({ why: 'Error: not seen in time: a lease' }),
      entry({ name: 'b', killedBy: null, reason: 'green' }),
    ]);
    expect(result).toMatchObject({ name: 'mutants', ...run, seconds: 4 });
    const none = { tried: 0, killed: 0, survived: 0, killedByTimeout: 0, untried: 0, changed: 0 };
    expect(result.areas).toEqual([
      { ...none, area: 'lease', tried: 2, killed: 1, survived: 1, killedByTimeout: 1, seconds: 4, commits: ['c1'] },
      { ...none, area: 'keys', untried: 1, seconds: 0, commits: [] },
    ]);
  });

  it('takes what was tried last, and says on which commits', () => {
    const before = entry({ killedBy: null, reason: 'green' });
    const result = resultOfRuns([before, entry({ name: 'b', dirty: true }), entry({ commit: 'c2' })]);
    expect(result.mutants.map((m) => [m.name, m.commit, m.killedBy === null])).toEqual([
      ['a', 'c2', false],
      ['b', 'c1', false],
    ]);
    expect(result.areas[0]).toMatchObject({ survived: 0, commits: ['c2', 'c1 + changes'] });
  });

  it('forgets a mutant that is in no table any more', () => {
    expect(resultOfRuns([entry({ name: 'gone' })]).mutants).toEqual([]);
  });

  it('counts as changed what was killed on another content, or on one that nobody noted', () => {
    const { content: _content, ...older } = entry({ name: 'b' });
    expect(resultOfRuns([entry({ content: 'before' }), older]).areas[0]).toMatchObject({ killed: 2, changed: 2 });
    expect(resultOfRuns([entry(), entry({ name: 'b' })]).areas[0]).toMatchObject({ killed: 2, changed: 0 });
  });

  it('keeps apart what simulations alone found', () => {
    const bySim = entry({ killedBy: 'sim hands --seed 1', histories: 7 });
    const result = resultOfRuns([entry()], [entry({ killedBy: null, reason: 'green' }), bySim]);
    expect(result.mutants).toEqual([entry()]);
    expect(result.bySims).toEqual([bySim]);
    expect(result.areas[0]).toMatchObject({ tried: 1, untried: 1, seconds: 2 });
  });

  it('leaves to the next run what was not tried, what is alive, and what has changed since, in this order', () => {
    const before = [entry({ content: 'before' }), entry({ name: 'b', killedBy: null })];
    expect(restOf(tables, before).map((m) => `${m.area} ${m.name}`)).toEqual(['keys a', 'lease b', 'lease a']);
    expect(restOf(tables, [entry(), entry({ name: 'b' })])).toEqual([tables[2]]);
  });
});

describe('a kill by a time limit', () => {
  it.each([
    ['Error: not seen in time: a lease', true],
    ['Error: Test timed out in 60000ms.', true],
    ['Error: Hook timed out in 60000ms.', true],
    ['thrown: "Exceeded timeout of 60000 ms for a test.', true],
    ['Error: Exceeded timeout of 60000 ms for a hook.', true],
    ['MusterError: waited 10 s for a verdict; it did not come', true],
    ['MusterError: the events were not read in time', true],
    ['Error: expect(received).toBe(expected) // Object.is equality', false],
    ['Error: not settled within 5000 virtual ms', false],
  ])('is told by its failure: %s', (why, is) => {
    expect(isTimeout(entry({ why }))).toBe(is);
  });

  it('is none where nothing killed', () => {
    expect(isTimeout(entry({ killedBy: null, why: 'Error: not seen in time: a lease' }))).toBe(false);
  });
});

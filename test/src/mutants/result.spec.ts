import { describe, expect, it } from 'vitest';
import { isTimeout, restOf, resultOf, type Entry } from './result.js';

const run = { commit: 'c2', dirty: false, date: '2026-11-23T04:00:00.000Z', machine: { cores: 2 } };
const tables = [
  { area: 'lease', name: 'a' },
  { area: 'lease', name: 'b' },
  { area: 'keys', name: 'a' },
];
const entry = (o: Partial<Entry> = {}): Entry => ({
  area: 'lease',
  name: 'a',
  killedBy: 'lease.spec.ts › holds',
  why: 'Error: expect(received).toBe(expected)',
  commit: 'c1',
  dirty: false,
  seconds: 2,
  ...o,
});

describe('the result of runs of mutants', () => {
  it('says of each area how many were tried, killed, alive, killed by a time limit alone, and are left', () => {
    const result = resultOf(
      [entry({ why: 'Error: not seen in time: a lease' }), entry({ name: 'b', killedBy: null, reason: 'green' })],
      tables,
      run,
    );
    expect(result).toMatchObject({ name: 'mutants', ...run, seconds: 4 });
    expect(result.areas).toEqual([
      { area: 'lease', tried: 2, killed: 1, survived: 1, killedByTimeout: 1, untried: 0, seconds: 4, commits: ['c1'] },
      { area: 'keys', tried: 0, killed: 0, survived: 0, killedByTimeout: 0, untried: 1, seconds: 0, commits: [] },
    ]);
  });

  it('takes what was tried last, and says on which commits', () => {
    const before = entry({ killedBy: null, reason: 'green' });
    const result = resultOf([before, entry({ name: 'b', dirty: true }), entry({ commit: 'c2' })], tables, run);
    expect(result.mutants.map((m) => [m.name, m.commit, m.killedBy === null])).toEqual([
      ['a', 'c2', false],
      ['b', 'c1', false],
    ]);
    expect(result.areas[0]).toMatchObject({ survived: 0, commits: ['c2', 'c1 + changes'] });
  });

  it('forgets a mutant that is in no table any more', () => {
    expect(resultOf([entry({ name: 'gone' })], tables, run).mutants).toEqual([]);
  });

  it('leaves to the next run what is alive or was not tried', () => {
    expect(restOf(tables, [entry(), entry({ name: 'b', killedBy: null })])).toEqual(tables.slice(1));
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

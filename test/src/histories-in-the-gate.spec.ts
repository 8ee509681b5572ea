import { describe, expect, it } from 'vitest';

interface Summary {
  histories?: number;
  violations?: { history: number; time: number; rule: string; what: string }[];
  said?: string;
}
const { outcomeOf } = (await import('../../scripts/tests/histories.mjs' as string)) as {
  outcomeOf: (
    simulation: string,
    count: number,
    seed: number,
    ended: { code: number; said: Summary },
  ) => { passed: number; failed: number; skipped: number; lines: string[] };
};

const broken = (history: number, time = 1): NonNullable<Summary['violations']>[number] => ({
  history,
  time,
  rule: 'twice',
  what: 'w1 runs on n-1 and n-2',
});

describe('random histories in the gate', () => {
  it('pass, each, where none breaks a rule', () => {
    expect(outcomeOf('fleet', 200, 7, { code: 0, said: { histories: 200, violations: [] } })).toEqual({
      passed: 200,
      failed: 0,
      skipped: 0,
      lines: ['200 histories of sim -- fleet, seed 7: no rule broken'],
    });
  });

  it('fail, each once, and are printed with the command that replays them', () => {
    const violations = [broken(3, 61_000), broken(3, 62_000), broken(9)];
    const { lines, ...counts } = outcomeOf('fleet', 200, 7, { code: 1, said: { histories: 200, violations } });
    expect(counts).toEqual({ passed: 198, failed: 2, skipped: 0 });
    expect(lines.slice(0, 2)).toEqual([
      'fleet, history 3 of seed 7, at 61000 ms: twice: w1 runs on n-1 and n-2',
      '  npm run sim -- fleet --seed 7 --replay 3',
    ]);
    expect(lines.slice(-2)).toEqual([
      '  npm run sim -- fleet --seed 7 --replay 9',
      '200 histories of sim -- fleet, seed 7: rules broken in 2',
    ]);
  });

  it('are counted, but not all printed, where one fault breaks many', () => {
    const violations = Array.from({ length: 25 }, (_, i) => broken(i));
    const { failed, lines } = outcomeOf('fleet', 200, 7, { code: 1, said: { histories: 200, violations } });
    expect([failed, lines.length, lines.at(-2)]).toEqual([25, 42, 'and 5 more violations']);
  });

  it.each<[string, { code: number; said: Summary }, number]>([
    ['that were not played to the end', { code: 2, said: { said: '' } }, 0],
    ['whose simulation failed though no rule was broken', { code: 1, said: { histories: 200, violations: [] } }, 200],
  ])('count as a failure %s', (_, ended, passed) => {
    const { lines, ...counts } = outcomeOf('fleet', 200, 7, ended);
    expect(counts).toEqual({ passed, failed: 1, skipped: 0 });
    expect(lines.join()).toMatch(new RegExp(`exit code ${ended.code}`));
  });
});

import { describe, expect, it } from 'vitest';
import { compared } from './against.js';
import type { BenchResult, Metric } from './metric.js';

const result = (metrics: Record<string, number>): BenchResult => ({
  bench: 'b',
  machine: 'm',
  metrics: Object.entries(metrics).map(([name, value]) => ({ name, unit: 'ms', value, goal: '≤ 9' })),
});

describe('a bench of two checkouts by turns', () => {
  const beside = (ours: Record<string, number>[], theirs: Record<string, number>[]): Metric[] =>
    compared(ours.map(result), { name: 'eb7662b', results: theirs.map(result) });

  it('sets the median of the one beside that of the other, and judges the ratio', () => {
    expect(beside([{ a_p50_ms: 5 }, { a_p50_ms: 50 }, { a_p50_ms: 6 }], [{ a_p50_ms: 4 }, { a_p50_ms: 4 }])).toEqual([
      {
        name: 'a_p50_ms',
        unit: 'ms',
        value: 6,
        goal: '≤ 9',
        over: 'by turns: 5, 50, 6 beside 4, 4',
        peer: { name: 'eb7662b', value: 4 },
        ratio: 1.5,
      },
      { name: 'ratio_of_a_p50_ms', unit: '', value: 1.5, goal: '≤ 1.1', over: 'to eb7662b' },
    ]);
  });

  it('leaves out a figure that is missing in a run of either', () => {
    expect(beside([{ a: 1, ours: 2 }], [{ a: 1, theirs: 3 }]).map((m) => m.name)).toEqual(['a']);
    expect(beside([{ a: 1, b: 1 }, { a: 1 }], [{ a: 1, b: 1 }]).map((m) => m.name)).toEqual(['a']);
  });

  it('gives no ratio to nothing', () => {
    expect(beside([{ a: 1 }], [{ a: 0 }])[0]).not.toHaveProperty('ratio');
  });
});

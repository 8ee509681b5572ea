import { describe, expect, it } from 'vitest';
import { compared } from './against.js';
import type { BenchResult } from './metric.js';

const result = (metrics: Record<string, number>): BenchResult => ({
  bench: 'b',
  machine: 'm',
  metrics: Object.entries(metrics).map(([name, value]) => ({ name, unit: 'ms', value, goal: '≤ 9' })),
});

describe('a bench of two checkouts by turns', () => {
  it('sets the median of the one beside that of the other, and says which runs they are from', () => {
    const ours = [{ a: 5 }, { a: 50 }, { a: 6 }].map(result);
    const theirs = { name: 'eb7662b', results: [{ a: 4 }, { a: 4 }, { a: 40 }].map(result) };
    expect(compared(ours, theirs)).toEqual([
      {
        name: 'a',
        unit: 'ms',
        value: 6,
        goal: '≤ 9',
        over: 'median of 3 runs by turns: 5, 50, 6 beside 4, 4, 40',
        peer: { name: 'eb7662b', value: 4 },
        ratio: 1.5,
      },
    ]);
  });

  it('leaves out a figure that only one of them has', () => {
    expect(compared([result({ a: 1, ours: 2 })], { name: 'x', results: [result({ a: 1, theirs: 3 })] })).toMatchObject([
      { name: 'a' },
    ]);
  });
});

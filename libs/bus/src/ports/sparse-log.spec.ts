import { describe, expect, it } from 'vitest';
import { SparseLog } from './sparse-log.js';

describe('lines that a stranger can bring about', () => {
  it('are a few at once, and then one now and then, which says how many were left out', () => {
    const sut = new SparseLog({ burst: 3, every: 1_000 });
    expect(Array.from({ length: 6 }, () => sut.next('a', 0))).toEqual([0, 0, 0, undefined, undefined, undefined]);
    expect([sut.next('b', 0), sut.next('a', 999), sut.next('a', 1_000), sut.next('a', 1_000)]).toEqual([
      0,
      undefined,
      4,
      undefined,
    ]);
    expect(sut.next('a', 100_000)).toBe(1);
  });

  it('are remembered of so many kinds at most', () => {
    const sut = new SparseLog({ burst: 1, every: 1_000, kinds: 10 });
    for (let kind = 0; kind < 11; kind++) sut.next(String(kind), 0);
    expect([sut.next('10', 0), sut.next('0', 0)]).toEqual([undefined, 0]);
  });
});

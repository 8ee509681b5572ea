import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { retryDelayMs, type RetryPolicy } from './retry-policy.js';

const failed = new MusterError('TIMEOUT', 'no answer');
const doubling: RetryPolicy = { firstMs: 1000, growth: 2, mostMs: 30_000 };

describe('a wait after a failure', () => {
  it('grows with each failure in a row, up to its most', () => {
    expect([1, 2, 3, 5, 6, 2000].map((n) => retryDelayMs(doubling, n, failed))).toEqual([
      1000, 2000, 4000, 16_000, 30_000, 30_000,
    ]);
  });

  it('is always the same where nothing else is said', () => {
    expect([1, 2, 9].map((n) => retryDelayMs({ firstMs: 60_000 }, n, failed, 0.9))).toEqual([60_000, 60_000, 60_000]);
  });

  it('is shortened by chance, by its share at most', () => {
    const spread = { ...doubling, spread: 0.5 };
    expect([0, 0.5, 0.75].map((chance) => retryDelayMs(spread, 2, failed, chance))).toEqual([2000, 1500, 1250]);
  });

  it('is none where only the lease was lost', () => {
    expect(retryDelayMs(doubling, 3, new MusterError('LEASE_LOST', 'not held'))).toBe(0);
  });
});

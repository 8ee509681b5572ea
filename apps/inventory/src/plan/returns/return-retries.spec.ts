import { describe, expect, it } from 'vitest';
import { failedTries } from './return-retries.js';

describe('the wait between two tries of a check', () => {
  it('is 5 s, and grows: to a minute where ssh does not get there, to five where its content has to be mended', () => {
    const waits = (tries: number): number =>
      failedTries({ reason: 'rebooted', at: 1, unreached: { tries, why: '' } }).waitMs / 1000;
    expect([1, 2, 3, 4, 5, 50].map(waits)).toEqual([5, 10, 20, 40, 60, 60]);
    const failed = (tries: number): number =>
      failedTries({ reason: 'rebooted', at: 1, failedTries: tries }).waitMs / 1000;
    expect([1, 2, 3, 6, 7, 8, 50].map(failed)).toEqual([5, 10, 20, 160, 300, 300, 300]);
    expect(failedTries(undefined).tries).toBe(0);
  });
});

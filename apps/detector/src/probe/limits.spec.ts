import { describe, expect, it } from 'vitest';
import { answerLimit, startGap } from './limits.js';
import { DetectionProfiles } from '#contracts';

describe('looks that begin together', () => {
  it('are spread, within half a round, and one alone begins at once', () => {
    expect([1, 100, 250, 1000].map((count) => startGap(count, 500))).toEqual([1, 1, 1, 0.25]);
  });

  it.each(Object.values(DetectionProfiles))('end in profile $profile before the observers report down', (n) => {
    const last = 1000 * startGap(1000, Math.min(500, n.interval));
    expect(last + answerLimit(n)).toBeLessThan(n.interval * (n.misses - n.suspectMisses));
  });
});

import { describe, expect, it } from 'vitest';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { DUE_SHARE } from './links/link-observation.js';
import { loopStep, untilNextStep } from './loop-step.js';

describe('the step of the loop', () => {
  it.each(Object.values(DetectionProfiles))('judges a probe well before the next one is due: $profile', (d) => {
    expect(loopStep(d)).toBeLessThan(((1 - DUE_SHARE) * d.interval) / 2);
    expect(loopStep(d)).toBeLessThanOrEqual(40);
  });

  it('is no standstill by itself', () => {
    expect(loopStep({ interval: 1000, loopGap: 30 })).toBeLessThan(15);
  });

  it('is a twelfth of a short interval', () => {
    expect(loopStep({ interval: 120, loopGap: 250 })).toBe(10);
  });

  const numbers = { interval: 500, loopGap: 250 };

  it('is due with the probe that may be one more miss, and else as always', () => {
    expect(untilNextStep(numbers, 1000, undefined)).toBe(40);
    expect(untilNextStep(numbers, 1000, 1500)).toBe(40);
    expect(untilNextStep(numbers, 1000, 1012.3)).toBe(13);
  });

  it('never spins for a probe that was due before', () => {
    expect(untilNextStep(numbers, 1000, 990)).toBe(1);
    expect(untilNextStep(numbers, 1000, 1000)).toBe(1);
  });
});

import { describe, expect, it } from 'vitest';
import { BEACON_FRESH_MS } from '#contracts';
import { SightedTime } from './sighted-time.js';

describe('the time in which the fleet was seen', () => {
  it('is that between beacons that say so, and none through blindness or silence', () => {
    const sut = new SightedTime();
    const hear = (...beacons: [sighted: boolean, at: number][]): number => {
      for (const [sighted, at] of beacons) sut.hear(sighted, at);
      return sut.ms;
    };
    expect(hear([true, 5_000])).toBe(0);
    expect(hear([true, 6_000], [true, 7_000])).toBe(2_000);
    expect(hear([false, 8_000], [false, 9_000], [true, 10_000])).toBe(2_000);
    expect(hear([true, 10_000 + BEACON_FRESH_MS])).toBe(2_000);
    expect(hear([true, 11_000 + BEACON_FRESH_MS])).toBe(3_000);
  });
});

import { describe, expect, it } from 'vitest';
import { NetworkWatch } from './network-watch.js';

const SILENCE = 3_000;

describe('an own network', () => {
  it('is up again with the first word after silence, once', () => {
    const watch = new NetworkWatch(0);
    expect(watch.heard(100)).toBe(false);
    expect(watch.update(3_100, SILENCE, 0)).toBe(false);
    expect(watch.heard(3_100)).toBe(false);
    watch.update(6_101, SILENCE, 0);
    expect(watch.heard(9_000)).toBe(true);
    expect(watch.heard(9_001)).toBe(false);
  });

  it('is up again when sends succeed after failures, once', () => {
    const watch = new NetworkWatch(0);
    const looks = [0, 1, 5, 0, 0, 2].map((errors, i) => watch.update(i * 20, SILENCE, errors));
    expect(looks).toEqual([false, false, false, true, false, false]);
  });
});

import { describe, expect, it } from 'vitest';
import { FailedTries, FailedTryNumbers, sourceOf } from './failed-tries.js';

const { burst, every, longest, sources } = FailedTryNumbers;

const failing = (times: number, at: number): FailedTries => {
  const tries = new FailedTries();
  for (let n = 0; n < times; n++) tries.failed('a', at);
  return tries;
};

describe('tries that fail', () => {
  it('are borne up to a burst, and then at a rate; the others are not held up', () => {
    expect(failing(burst - 1, 5_000).waitMs('a', 5_000)).toBe(0);
    const sut = failing(burst, 5_000);
    expect([sut.waitMs('a', 5_000), sut.waitMs('b', 5_000)]).toEqual([every, 0]);
    expect(sut.waitMs('a', 5_000 + every)).toBe(0);
    sut.failed('a', 5_000 + every);
    expect(sut.waitMs('a', 5_000 + every)).toBe(every);
    expect(sut.waitMs('a', 5_000 + burst * every * 2)).toBe(0);
  });

  it('count also where they came at once, and keep nobody out for ever', () => {
    expect(failing(burst + 9, 0).waitMs('a', 0)).toBe(10 * every);
    expect(failing(100_000, 7).waitMs('a', 7)).toBe(longest);
  });

  it('let through over a long time no more than the rate and one burst', () => {
    const sut = new FailedTries();
    const end = 3_600_000;
    let through = 0;
    for (let now = 0; now < end; now += 100)
      if (sut.waitMs('a', now) === 0) {
        sut.failed('a', now);
        through += 1;
      }
    expect(through).toBeGreaterThan(end / every);
    expect(through).toBeLessThanOrEqual(end / every + burst);
  });

  it('are remembered of so many sources at most, of those that failed last', () => {
    const sut = failing(2 * burst, 0);
    sut.failed('early', 0);
    for (let n = 0; n < sources - 2; n++) sut.failed(`s${n}`, 1);
    sut.failed('a', 1);
    expect([sut.remembered, sut.waitMs('a', 1) > 0]).toEqual([sources, true]);
    for (let n = 0; n < sources; n++) sut.failed(`t${n}`, 2);
    expect([sut.remembered, sut.waitMs('a', 2)]).toEqual([sources, 0]);
  });
});

describe('the source of a request', () => {
  it('is its address, of IPv6 the /64, and none for a unix socket', () => {
    expect(sourceOf('10.0.0.7')).toBe('10.0.0.7');
    expect(sourceOf('::ffff:10.0.0.7')).toBe('10.0.0.7');
    expect(sourceOf('2001:db8:1:2::1')).toBe(sourceOf('2001:db8:1:2:ffff:1:2:3'));
    expect(sourceOf('2001:db8:1:2::1')).not.toBe(sourceOf('2001:db8:1:3::1'));
    expect(sourceOf('fe80::1%eth0')).toBe(sourceOf('fe80::2%eth0'));
    expect(sourceOf('::1')).not.toBe(sourceOf('127.0.0.1'));
    expect(sourceOf(undefined)).toBe('unix');
    expect(sourceOf('not an address', '10.0.0.7')).toBe('10.0.0.7');
  });
});

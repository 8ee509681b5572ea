import { beforeEach, describe, expect, it } from '@jest/globals';
import { Identities } from './identities.js';

describe('two machines under one name', () => {
  let sut: Identities;
  beforeEach(() => {
    sut = new Identities('a', 5);
  });

  it('is seen by us when somebody signs as us with a later epoch, which we never had', () => {
    sut.asUs(5n, 0);
    expect(sut.warnings(0)).toEqual([]);
    sut.asUs(6n, 10);
    expect(sut.warnings(10)).toEqual(['duplicate: another machine speaks as a']);
    expect(sut.warnings(60_011)).toEqual([]);
  });

  it('is not concluded from one replayed datagram of an earlier process of ours, but from several', () => {
    sut.asUs(4n, 0);
    sut.asUs(4n, 10);
    expect(sut.warnings(10)).toEqual([]);
    sut.asUs(4n, 20);
    expect(sut.warnings(20)).toHaveLength(1);
  });

  /** Both processes are heard; `answers`: the older one brings back what it is asked. */
  const both = (answers: boolean): number => {
    let asked = 0;
    for (let now = 0; now < 12_000; now += 500) {
      if (now >= 1_000) sut.heard('b', 2n, now);
      if (!sut.heard('b', 1n, now + 1)) continue;
      sut.asked('b', `nonce ${++asked}`, now + 1);
      if (answers) expect(sut.answered('b', 1n, `nonce ${asked}`, now + 2)).toBe(true);
    }
    return asked;
  };

  it('is seen of a peer whose older process goes on beside a newer one, and answers', () => {
    expect(both(true)).toBeGreaterThan(0);
    expect(sut.warnings(12_000)).toEqual(['duplicate: two machines speak as b']);
    expect(sut.warnings(80_000)).toEqual([]);
    sut.know(new Set(['c']));
    expect(sut.warnings(12_000)).toEqual([]);
  });

  it('is not concluded from recorded datagrams of an older process, however many: they answer nothing', () => {
    // Not each of them is worth a question, or whoever sends them has us send as many.
    expect(both(false)).toBeLessThan(6);
    expect(sut.answered('b', 1n, 'another nonce', 12_000)).toBe(false);
    expect(sut.warnings(12_000)).toEqual([]);
  });

  it.each([
    ['the newest process', 2n, 10],
    ['an older one that comes too late', 1n, 2_001],
  ] as const)('is not concluded from an answer of %s', (_who, epoch, after) => {
    sut.heard('b', 2n, 0);
    expect(sut.heard('b', 1n, 3_000)).toBe(true);
    sut.asked('b', 'n', 3_000);
    expect(sut.answered('b', epoch, 'n', 3_000 + after)).toBe(true);
    expect(sut.warnings(3_000 + after)).toEqual([]);
  });

  it('is not concluded from a restart with late datagrams, nor from an epoch that was lost', () => {
    sut.heard('b', 7n, 0);
    sut.heard('b', 8n, 1_000);
    for (let i = 0; i < 10; i++) sut.heard('b', 7n, 1_010 + i);
    for (let now = 20_000; now < 40_000; now += 500) sut.heard('b', 3n, now);
    expect(sut.warnings(40_000)).toEqual([]);
  });
});

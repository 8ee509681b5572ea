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

  it('is seen of a peer whose older process goes on beside a newer one', () => {
    for (let now = 0; now < 6_000; now += 500) {
      sut.heard('b', 1n, now);
      if (now >= 1_000) sut.heard('b', 2n, now + 1);
    }
    expect(sut.warnings(6_000)).toEqual(['duplicate: two machines speak as b']);
    sut.know(new Set(['c']));
    expect(sut.warnings(6_000)).toEqual([]);
  });

  it('is not concluded from a restart with late datagrams, nor from an epoch that was lost', () => {
    sut.heard('b', 7n, 0);
    sut.heard('b', 8n, 1_000);
    for (let i = 0; i < 10; i++) sut.heard('b', 7n, 1_010 + i);
    for (let now = 20_000; now < 40_000; now += 500) sut.heard('b', 3n, now);
    expect(sut.warnings(40_000)).toEqual([]);
  });
});

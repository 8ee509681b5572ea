import { beforeEach, describe, expect, it } from 'vitest';
import { Identities, type Start } from './identities.js';

const start = (epoch: number, boot = 1): Start => ({ epoch: BigInt(epoch), boot });

describe('two machines under one name', () => {
  let sut: Identities;
  beforeEach(() => {
    sut = new Identities('a', start(5));
  });

  it('is seen by us when somebody signs as us with a later epoch, which we never had', () => {
    sut.asUs(start(5), 0);
    expect(sut.warnings(0)).toEqual([]);
    sut.asUs(start(6), 10);
    expect(sut.warnings(10)).toEqual(['duplicate: another machine speaks as a']);
    expect(sut.warnings(60_011)).toEqual([]);
  });

  it('is not concluded from one replayed datagram of an earlier process of ours, but from several', () => {
    sut.asUs(start(4), 0);
    sut.asUs(start(4), 10);
    expect(sut.warnings(10)).toEqual([]);
    sut.asUs(start(4), 20);
    expect(sut.warnings(20)).toHaveLength(1);
  });

  /** Both processes are heard; `answers`: the older one brings back what it is asked. */
  const both = (answers: boolean): number => {
    let asked = 0;
    for (let now = 0; now < 12_000; now += 500) {
      if (now >= 1_000) sut.heard('b', start(2), now);
      if (!sut.heard('b', start(1), now + 1)) continue;
      sut.asked('b', `nonce ${++asked}`, now + 1);
      if (answers) expect(sut.answered('b', start(1), `nonce ${asked}`, now + 2)).toBe(true);
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
    expect(sut.answered('b', start(1), 'another nonce', 12_000)).toBe(false);
    expect(sut.warnings(12_000)).toEqual([]);
  });

  it.each([
    ['the newest process', 2, 10],
    ['an older one that comes too late', 1, 2_001],
  ] as const)('is not concluded from an answer of %s', (_who, epoch, after) => {
    sut.heard('b', start(2), 0);
    expect(sut.heard('b', start(1), 3_000)).toBe(true);
    sut.asked('b', 'n', 3_000);
    expect(sut.answered('b', start(epoch), 'n', 3_000 + after)).toBe(true);
    expect(sut.warnings(3_000 + after)).toEqual([]);
  });

  it('is not concluded from a restart with late datagrams, nor from an epoch that was lost', () => {
    sut.heard('b', start(7), 0);
    sut.heard('b', start(8), 1_000);
    for (let i = 0; i < 10; i++) sut.heard('b', start(7), 1_010 + i);
    for (let now = 20_000; now < 40_000; now += 500) sut.heard('b', start(3), now);
    expect(sut.warnings(40_000)).toEqual([]);
  });

  it('is seen by us at the first word of who signs with our epoch in another boot', () => {
    sut.asUs(start(5, 0), 0);
    expect(sut.warnings(0)).toEqual([]);
    sut.asUs(start(5, 2), 10);
    expect(sut.warnings(10)).toEqual(['duplicate: another machine speaks as a']);
  });

  it('is seen of a peer whose epoch is borne by two boots, at the first answer of the second', () => {
    expect(sut.heard('b', start(3), 0)).toBe(false);
    expect(sut.heard('b', start(3), 10)).toBe(false);
    expect(sut.heard('b', start(3, 2), 20)).toBe(true);
    sut.asked('b', 'n', 20);
    expect(sut.heard('b', start(3, 2), 30)).toBe(false);
    expect(sut.warnings(30)).toEqual([]);
    expect(sut.answered('b', start(3, 2), 'n', 40)).toBe(true);
    expect(sut.warnings(40)).toEqual(['duplicate: two machines speak as b']);
  });

  it('is not concluded from recorded datagrams of another boot, nor from an answer of the first', () => {
    let asked = 0;
    sut.heard('b', start(3), 0);
    for (let now = 10; now < 10_000; now += 500) {
      if (sut.heard('b', start(3, 2), now)) {
        sut.asked('b', `n ${++asked}`, now);
        expect(sut.answered('b', start(3), `n ${asked}`, now + 1)).toBe(true);
      }
      sut.heard('b', start(3), now + 2);
    }
    expect([asked, sut.warnings(10_000)]).toEqual([5, []]);
  });

  it('is not concluded from an agent of an earlier Muster, which does not tell its boot', () => {
    const heard = [start(3, 0), start(3), start(3, 0), start(3)].map((s) => sut.heard('b', s, 0));
    expect(heard).toEqual(Array(4).fill(false));
    // By then it is known.
    expect(sut.heard('b', start(3, 2), 10)).toBe(true);
  });

  it('is not concluded from another boot of the same number after a silence: disk and clock were lost', () => {
    sut.heard('b', start(3), 0);
    for (let now = 11_000; now < 20_000; now += 500) expect(sut.heard('b', start(3, 2), now)).toBe(false);
  });
});

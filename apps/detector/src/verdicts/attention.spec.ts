import { describe, expect, it } from 'vitest';
import { BEACON_PERIOD_MS, DetectionProfiles, STORM_NEWS_MS } from '#contracts';
import { Attention } from './attention.js';

const seq = (n: number) => () => ({ seq: n, silent: ['n-1'] });

const n = DetectionProfiles.lan;

describe('the attention of the monitor', () => {
  it('judges nobody before it leads, and for two report periods from then on', () => {
    const attention = new Attention(0);
    expect(attention.isQuiet(60_000)).toBe(true);
    attention.beQuiet(60_000, n);
    expect(attention.isQuiet(61_999)).toBe(true);
    expect(attention.isQuiet(62_000)).toBe(false);
  });

  it('is quiet for no shorter than it had to be before, whatever comes after', () => {
    const attention = new Attention(0);
    attention.beQuiet(1000, DetectionProfiles.wan);
    attention.beQuiet(2000, DetectionProfiles.fast);
    expect(attention.isQuiet(4999)).toBe(true);
    expect(attention.isQuiet(5000)).toBe(false);
  });

  it('notices at the first look that its loop stood still, once', () => {
    const attention = new Attention(0);
    expect(attention.measureGap(1000, n)).toBeUndefined();
    expect(attention.measureGap(2001, n)).toBe(1001);
    expect(attention.measureGap(2002, n)).toBeUndefined();
  });

  it('takes what it reads after a standstill for as old as it can be', () => {
    const attention = new Attention(0);
    attention.measureGap(500, n);
    expect(attention.heardAt(600)).toBe(600);
    attention.measureGap(4000, n);
    expect(attention.heardAt(4000)).toBe(500);
    expect(attention.heardAt(4199)).toBe(500);
    expect(attention.heardAt(4200)).toBe(4200);
  });

  it('bears less where reports are fresh for less', () => {
    const attention = new Attention(0);
    expect(attention.measureGap(501, DetectionProfiles.fast)).toBe(501);
    expect(attention.measureGap(1501, DetectionProfiles.wan)).toBeUndefined();
    expect(attention.measureGap(2502, DetectionProfiles.wan)).toBe(1001);
  });

  it('counts silence from when reports can reach it', () => {
    const attention = new Attention(5);
    expect(attention.listeningSince).toBe(5);
    attention.listenAnew(700);
    expect(attention.listeningSince).toBe(700);
  });

  it('has no quorum by itself until it has listened for a while, then by reports that are missing', () => {
    const attention = new Attention(0);
    attention.sees(false, 4_999, seq(0));
    attention.sees(true, 5_000, seq(0));
    expect(attention.noQuorumBy).toBe('own');
    attention.sees(false, 5_000, seq(0));
    attention.sees(true, 6_000, seq(0));
    expect(attention.noQuorumBy).toBe('reports');
    attention.listenAnew(7_000);
    expect(attention.noQuorumBy).toBe('own');
  });

  it('has no quorum by reports that are missing, too, where agents have had the time to come back and too few have', () => {
    const attention = new Attention(0);
    attention.sees(true, 4_999, seq(0));
    expect(attention.noQuorumBy).toBe('own');
    attention.sees(true, 5_000, seq(0));
    expect(attention.noQuorumBy).toBe('reports');
    attention.listenAnew(7_000);
    attention.sees(true, 11_999, seq(0));
    expect(attention.noQuorumBy).toBe('own');
    attention.sees(true, 12_000, seq(0));
    expect(attention.noQuorumBy).toBe('reports');
  });

  it('gives agents as long again where it saw enough and does not any more before that time is over', () => {
    const attention = new Attention(0);
    attention.sees(false, 4_000, seq(0));
    attention.sees(true, 4_500, seq(0));
    attention.sees(true, 9_499, seq(0));
    expect(attention.noQuorumBy).toBe('own');
    attention.sees(true, 9_500, seq(0));
    expect(attention.noQuorumBy).toBe('reports');
  });

  it('tells of the end of a blindness by missing reports, also in a new term, and of no other', () => {
    const attention = new Attention(0);
    attention.sees(false, 4_000, seq(1));
    expect(attention.blindnessEnded(4_000)).toBeUndefined();
    attention.sees(true, 9_000, seq(2));
    attention.sees(true, 20_000, seq(8));
    attention.sees(false, 20_001, seq(9));
    attention.sees(false, 21_000, seq(30));
    const over = 20_001 + STORM_NEWS_MS;
    expect([attention.blindnessEnded(20_001), attention.blindnessEnded(over - 1)]).toEqual([seq(9)(), seq(9)()]);
    expect(attention.blindnessEnded(over)).toBeUndefined();
    attention.beginTerm();
    expect(attention.blindnessEnded(21_000)).toEqual(seq(0)());
  });

  it('takes a moment without quorum, of which no beacon tells, for no blindness', () => {
    const attention = new Attention(0);
    attention.sees(false, 6_000, seq(1));
    attention.sees(true, 7_000, seq(2));
    attention.sees(false, 7_000 + BEACON_PERIOD_MS - 1, seq(3));
    expect(attention.blindnessEnded(8_000)).toBeUndefined();
    attention.sees(true, 10_000, seq(4));
    attention.sees(false, 10_000 + BEACON_PERIOD_MS, seq(5));
    expect(attention.blindnessEnded(12_000)).toEqual(seq(5)());
  });
});

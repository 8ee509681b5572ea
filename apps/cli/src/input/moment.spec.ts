import { describe, expect, it } from 'vitest';
import { comingMoment, pastMoment } from './moment.js';

const at = (y: number, mo: number, d: number, h: number, mi: number, s = 0): number =>
  new Date(y, mo - 1, d, h, mi, s).getTime();
const now = at(2026, 11, 21, 3, 10, 30);
const sut = (text: string): number => pastMoment('--at', text, now);

describe('a moment of the past', () => {
  it('is so long ago', () => {
    expect(sut('15m')).toBe(now - 900_000);
    expect(sut('2h')).toBe(now - 7_200_000);
  });

  it('is the last time that it was that late here', () => {
    expect(sut('03:10')).toBe(at(2026, 11, 21, 3, 10));
    expect(sut('03:10:31')).toBe(at(2026, 11, 20, 3, 10, 31));
    expect(sut('23:59')).toBe(at(2026, 11, 20, 23, 59));
  });

  it('is a time of day with its day, of this zone where none is said', () => {
    expect(sut('2026-11-20 20:15:03')).toBe(at(2026, 11, 20, 20, 15, 3));
    expect(sut('2026-11-20T20:15:00+01:00')).toBe(Date.UTC(2026, 10, 20, 19, 15));
    expect(sut('1761000000000')).toBe(1_761_000_000_000);
  });

  it.each(['yesterday', '', '24:00', '12:60', '2026-11-20', '7', '2026-13-01T00:00:00Z'])('is not "%s"', (text) => {
    expect(() => sut(text)).toThrow(/^--at: ".*" is no time: write 15m \(ago\)/);
  });

  it('is not yet to come', () => {
    expect(() => sut('2026-11-22T20:15:00Z')).toThrow('is yet to come');
  });
});

describe('a moment to come', () => {
  const coming = (text: string): number => comingMoment('--until', text, now);

  it('is so long from now, or a time of day with its day', () => {
    expect(coming('7d')).toBe(now + 7 * 86_400_000);
    expect(coming('2026-11-22 20:15')).toBe(at(2026, 11, 22, 20, 15));
    expect(coming('2026-11-22T20:15:00+01:00')).toBe(Date.UTC(2026, 10, 22, 19, 15));
    expect(coming('1999000000000')).toBe(1_999_000_000_000);
  });
  it.each(['tomorrow', '', '20:15', '7', '2026-13-01T00:00:00Z'])('is not "%s"', (text) => {
    expect(() => coming(text)).toThrow(/^--until: ".*" is no time to come: write 7d \(from now\)/);
  });
  it.each(['0s', '2026-11-20T20:15:00Z'])('is not past, as %s is', (text) => {
    expect(() => coming(text)).toThrow('is past');
  });
});

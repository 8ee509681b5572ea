import { beforeEach, describe, expect, it } from 'vitest';
import type { FastifyRequest } from 'fastify';
import { MusterError, type ErrorCode } from '#contracts';
import { FailedTryNumbers } from './failed-tries.js';
import { GuessedTokens } from './guessed-tokens.js';

const { burst, every } = FailedTryNumbers;

let now: number;
let sut: GuessedTokens;
let lines: unknown[][];
beforeEach(() => {
  now = 5_000;
  lines = [];
  sut = new GuessedTokens({ warn: (...line: unknown[]) => lines.push(line) }, () => now);
});

const GOOD = ['good', 'other'];
/** @returns whether it is let through, or with which code it is refused */
function show(token: string, ip = '10.0.0.7', whyNot: ErrorCode = 'UNAUTHORIZED'): ErrorCode | 'through' {
  const request = { ip, raw: { socket: { remoteAddress: ip } } } as FastifyRequest;
  try {
    return sut.check(request, token, () => {
      if (GOOD.includes(token)) return 'through' as const;
      throw new MusterError(whyNot, 'no');
    });
  } catch (e) {
    return MusterError.from(e).code;
  }
}
const guess = (times: number, ip?: string): (ErrorCode | 'through')[] =>
  Array.from({ length: times }, (_, n) => show(`guess-${n}`, ip));

describe('guesses at tokens', () => {
  it('are refused after a burst without a look at them, a right one like a wrong one, until they are worked off', () => {
    expect(guess(burst + 3)).toEqual([
      ...Array<string>(burst).fill('UNAUTHORIZED'),
      ...Array<string>(3).fill('TOO_MANY_TRIES'),
    ]);
    expect(show('good')).toBe('TOO_MANY_TRIES');
    now += every;
    expect(show('good')).toBe('through');
  });

  it('hold up nobody elsewhere, and nobody who was at work from there', () => {
    expect(show('good')).toBe('through');
    guess(2 * burst);
    expect([show('good'), show('other', '10.0.0.8'), show('guess', '10.0.0.8')]).toEqual([
      'through',
      'through',
      'UNAUTHORIZED',
    ]);
  });

  it('are not told a token by its use elsewhere', () => {
    expect(show('good', '10.0.0.8')).toBe('through');
    guess(burst);
    expect(show('good')).toBe('TOO_MANY_TRIES');
  });

  it('leave a few lines with where they come from, however many they are, and no token', () => {
    guess(2);
    expect(lines).toEqual([
      [{ source: '10.0.0.7', leftOut: 0 }, 'a wrong API token'],
      [{ source: '10.0.0.7', leftOut: 0 }, 'a wrong API token'],
    ]);
    guess(1_000);
    expect(lines).toHaveLength(3);
    guess(1, '10.0.0.8');
    expect(lines.at(-1)).toEqual([{ source: '10.0.0.8', leftOut: 0 }, 'a wrong API token']);
    now += 60_000;
    guess(burst + 1);
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)?.[0]).toMatchObject({ source: '10.0.0.7', leftOut: 999 });
    expect(JSON.stringify(lines)).not.toContain('guess-');
  });

  it('from one /64 of IPv6 are of one place', () => {
    for (let n = 0; n < burst; n++) show('guess', `2001:db8::${n.toString(16)}`);
    expect([show('guess', '2001:db8::ffff'), show('guess', '2001:db8:0:1::1')]).toEqual([
      'TOO_MANY_TRIES',
      'UNAUTHORIZED',
    ]);
  });

  it('are none where a token could not be looked up', () => {
    for (let n = 0; n < 2 * burst; n++) expect(show('new', '10.0.0.7', 'BUS_UNAVAILABLE')).toBe('BUS_UNAVAILABLE');
    expect(show('good')).toBe('through');
  });

  it('with a token that was right once count as others do', () => {
    expect(show('good')).toBe('through');
    GOOD.shift();
    try {
      for (let n = 0; n < burst; n++) show('good');
      expect(show('good')).toBe('TOO_MANY_TRIES');
    } finally {
      GOOD.unshift('good');
    }
  });
});

import { describe, expect, it } from 'vitest';
import { MusterError, type ErrorCode } from '#contracts';
import type { Link } from '../ports/link.js';
import { ApiFailure } from '../ports/log-failure.js';
import type { Appended } from '../ports/message-log.js';
import { systemRandom } from '../system/system-random.js';
import { store } from './store.js';

type Answer = ErrorCode | ApiFailure | Appended;

/** Stores once, at a server that gives these answers one after the other, the last one again and again. */
function storedAt(...answers: [Answer, ...Answer[]]): ReturnType<typeof store> {
  let now = 0;
  let tries = 0;
  const append = (): Promise<Appended> => {
    const answer = answers[Math.min(tries++, answers.length - 1)] as Answer;
    if (typeof answer === 'string') return Promise.reject(new MusterError(answer, 'no answer'));
    return answer instanceof ApiFailure ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const sleep = (ms: number): Promise<void> => {
    now += ms;
    return Promise.resolve();
  };
  const link = {
    ...{ clock: { monotonicMs: () => now, sleep }, random: systemRandom },
    ...{ wire: { serverInfo: undefined }, messages: { append }, closed: false },
    whenConnected: async () => Promise.resolve(),
  } as unknown as Link;
  return store(link, 'subject', 'text');
}

const forbidden = new ApiFailure(10_036, 400, 'not here');

describe('a message that could not be stored', () => {
  it.each<[string, [Answer, ...Answer[]], ErrorCode]>([
    ['by the one try that was made', [forbidden], 'INTERNAL'],
    ['as no server ever took it', ['NO_RESPONDER'], 'NO_RESPONDER'],
    ['as no server takes it any more, and one may have', ['TIMEOUT', 'NO_RESPONDER'], 'TIMEOUT'],
    ['as the right to it is gone, and an earlier try may have had it', ['BUS_UNAVAILABLE', 'FORBIDDEN'], 'TIMEOUT'],
    ['as the right to it was never there', ['NO_RESPONDER', 'FORBIDDEN'], 'FORBIDDEN'],
    ['in time', ['BUS_UNAVAILABLE'], 'BUS_UNAVAILABLE'],
  ])('%s', async (_what, answers, code) => {
    await expect(storedAt(...answers)).rejects.toMatchObject({ code });
  });

  it('is not lost where another try stores it, nor where its revision is gone', async () => {
    expect(await storedAt('TIMEOUT', { seq: 4, duplicate: true })).toEqual({ seq: 4 });
    expect(await storedAt('TIMEOUT', { conflict: true })).toEqual({ conflict: true, tries: 2 });
  });
});

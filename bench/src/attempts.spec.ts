import { describe, expect, it } from 'vitest';
import { EventEmitter } from 'node:events';
import { Attempts, reasonOf } from './attempts.js';

describe('parts of a bench', () => {
  it('that fail are told with what was behind it, and the others are carried out', async () => {
    const [said, done]: [string[], string[]] = [[], []];
    const sut = new Attempts((line) => said.push(line), new EventEmitter());
    await sut.attempt('reads', () => Promise.reject(new Error('no answer', { cause: new Error('ECONNRESET') })));
    await sut.attempt('lists', async () => void done.push('lists'));
    expect(sut.failed).toEqual([{ part: 'reads', why: 'no answer, because: ECONNRESET' }]);
    expect([said, done]).toEqual([['reads FAILED: no answer, because: ECONNRESET'], ['lists']]);
  });

  it.each(['uncaughtException', 'unhandledRejection'])('end with an %s, which ends nothing else', async (event) => {
    const host = new EventEmitter();
    const sut = new Attempts(() => undefined, host);
    await sut.attempt('api', async () => {
      const part = sut.attempt('reads', () => new Promise(() => undefined));
      host.emit(event, new Error('from nowhere'));
      await part;
    });
    expect([sut.failed, host.listenerCount(event)]).toEqual([[{ part: 'reads', why: 'from nowhere' }], 0]);
  });

  it('have a reason also where something else than an error was thrown, or one without words', () => {
    expect([reasonOf('a word'), reasonOf(new TypeError())]).toEqual(['a word', 'TypeError']);
  });
});

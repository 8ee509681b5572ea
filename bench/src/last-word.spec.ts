import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LastWord } from './last-word.js';
import type { BenchResult } from './metric.js';

/** A process that ends when it is told to. */
class Host extends EventEmitter {
  exitCode: number | undefined;

  exit(code?: number): never {
    this.exitCode = code;
    this.emit('exit', code);
    return undefined as never;
  }
}

function bench() {
  const host = new Host();
  const printed: BenchResult[] = [];
  const begun = { bench: 'api', machine: '2 × m' };
  const earlier = [{ part: 'lists', why: 'refused' }];
  const sut = new LastWord(earlier, begun, (result) => void printed.push(result), host);
  return { sut, host, printed };
}

describe('the last word of a bench', () => {
  it('is a result that says why, and a failure, where nothing is left to wait for', () => {
    const { host, printed } = bench();
    host.emit('exit', 0);
    expect(printed).toMatchObject([
      {
        bench: 'api',
        metrics: [],
        failed: [{ part: 'lists' }, { part: 'api', why: expect.stringMatching('before its last part') as string }],
      },
    ]);
    expect(host.exitCode).toBe(1);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('names the signal that ended it: %s', (signal, code) => {
    const { host, printed } = bench();
    host.emit(signal);
    expect(printed).toMatchObject([{ failed: [{ part: 'lists' }, { part: 'api', why: `ended by ${signal}` }] }]);
    expect(host.exitCode).toBe(code);
  });

  it('is none where the result was printed', () => {
    const { sut, host, printed } = bench();
    sut.isPrinted();
    host.emit('exit', 0);
    expect([printed, host.exitCode]).toEqual([[], undefined]);
  });
});

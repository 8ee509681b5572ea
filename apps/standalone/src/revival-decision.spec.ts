import { describe, expect, it } from 'vitest';
import { decideRevival, type RevivalState } from './revival-decision.js';

const MiB = 1024 * 1024;
const disk = (freeMiB: number) => ({ path: '/srv/nats', totalBytes: 1000 * MiB, freeBytes: freeMiB * MiB });

/** When nats-server is restarted: looks once a second, each with what is free and for how long nobody answers. */
function restarts(looks: { freeMiB: number; silentForMs?: number }[]): number[] {
  let state: RevivalState = { wasFull: false };
  return looks.flatMap(({ freeMiB, silentForMs = 0 }, second) => {
    const decided = decideRevival(state, { disk: disk(freeMiB), silentForMs }, second * 1000);
    state = decided.state;
    return decided.restart === undefined ? [] : [second];
  });
}
const times = <T>(n: number, x: T): T[] => Array.from({ length: n }, () => x);

describe('a nats-server whose disk was full', () => {
  it('is restarted once, when there has been room for 2 s', () => {
    expect(restarts([...times(60, { freeMiB: 0 }), ...times(60, { freeMiB: 500 })])).toEqual([62]);
  });

  it('is not restarted while there is none, however long its store is silent', () => {
    expect(restarts(times(300, { freeMiB: 0, silentForMs: 300_000 }))).toEqual([]);
    expect(restarts([{ freeMiB: 0 }, ...times(100, { freeMiB: 10 })])).toEqual([]);
  });

  it('is not restarted for room that is gone again at once', () => {
    const looks = [{ freeMiB: 0 }, { freeMiB: 500 }, { freeMiB: 0 }, { freeMiB: 500 }, { freeMiB: 0 }];
    expect(restarts(looks)).toEqual([]);
  });

  it('is restarted anew each time that its disk was full', () => {
    const once = [...times(3, { freeMiB: 0 }), ...times(5, { freeMiB: 500 })];
    expect(restarts([...once, ...once])).toEqual([5, 13]);
  });
});

describe('a nats-server whose disk has room', () => {
  it('is left alone while its store answers, or is merely slow', () => {
    expect(restarts(times(100, { freeMiB: 500, silentForMs: 19_999 }))).toEqual([]);
  });

  it('is restarted when its store has not answered for 20 s, and not again within 30 s', () => {
    expect(restarts(times(50, { freeMiB: 500, silentForMs: 20_000 }))).toEqual([2, 32]);
  });

  it('is left alone where nobody can see its disk', () => {
    expect(decideRevival({ wasFull: false }, { silentForMs: 90_000 }, 1e6).restart).toBeUndefined();
  });
});

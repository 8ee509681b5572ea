import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { Interruption } from './interruption.js';

/** Two steps, the first of which goes on until it is let go. */
function world() {
  const seen: string[] = [];
  const signals = new EventEmitter();
  let letGo: () => void = () => undefined;
  let ended: (code: number) => void = () => undefined;
  const end = new Promise<number>((resolve) => (ended = resolve));
  const sut = new Interruption({ signals, say: (line) => seen.push(line), end: (code) => ended(code) });
  sut.tidiesBy([
    () => new Promise<void>((resolve) => (seen.push('engine'), (letGo = resolve))),
    () => Promise.reject(new Error('netns is busy')),
    () => Promise.resolve(seen.push('machine')),
  ]);
  return { seen, signals, sut, end, letGo: () => letGo() };
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('after %s all that was started goes, once, and then the process, with code %d', async (signal, code) => {
  const w = world();
  expect(() => w.sut.check()).not.toThrow();
  w.signals.emit(signal);
  w.signals.emit('SIGINT');
  w.signals.emit('SIGTERM');
  expect(() => w.sut.check()).toThrow(signal);
  // The run fails meanwhile, as its engine is gone, and tidies up as ever.
  const own = w.sut.tidy();
  w.letGo();
  expect([await w.end, await own]).toEqual([code, false]);
  expect(w.seen).toEqual([
    `${signal}: what was started is tidied up`,
    'engine',
    'something is left: netns is busy',
    'machine',
  ]);
});

it('without a signal it goes when the run is through, and ends nothing', async () => {
  const w = world();
  let isEnded = false;
  void w.end.then(() => (isEnded = true));
  const own = w.sut.tidy();
  w.letGo();
  expect(await own).toBe(false);
  expect([isEnded, w.seen.at(-1)]).toEqual([false, 'machine']);
});

import { expect, it } from 'vitest';
import { AskedBook } from './asked-book.js';

it('knows how long ago each was asked last, and forgets what was long ago', () => {
  const clock = { now: 0, monotonicMs: (): number => clock.now };
  const book = new AskedBook(clock);
  book.note(['a']);
  clock.now = 10;
  book.note(['b']);
  clock.now = 30;
  expect([book.agoMs('a'), book.agoMs('b'), book.agoMs('c')]).toEqual([30, 20, undefined]);
  book.note(['a']);
  expect(book.agoMs('a')).toBe(0);
  clock.now = 60_025;
  book.note([]);
  expect([book.agoMs('a'), book.agoMs('b')]).toEqual([59_995, undefined]);
});

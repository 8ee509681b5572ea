import { expect, it } from 'vitest';
import { AgeBook } from '../ages/age-book.js';
import { agesIn, keepAges, type Conditions } from './ages.js';

it('ages what holds, keeps what nobody can speak of, and begins anew what was over', () => {
  const clock = { now: 0, monotonicMs: (): number => clock.now };
  const book = new AgeBook(clock);
  const at = (now: number, conditions: Conditions<'a' | 'b'>): number[] => {
    clock.now = now;
    keepAges(book, conditions);
    const ages = agesIn<'a' | 'b'>(book);
    return [ages.of('a'), ages.of('b')];
  };
  expect(at(0, { holds: ['a'], unknown: ['b'] })).toEqual([0, 0]);
  expect(at(10, { holds: [], unknown: ['a', 'b'] })).toEqual([10, 0]);
  expect(at(20, { holds: ['a', 'b'] })).toEqual([20, 0]);
  expect(at(30, { holds: ['b'] })).toEqual([0, 10]);
  expect(at(40, { holds: ['a', 'b'] })).toEqual([0, 20]);
});

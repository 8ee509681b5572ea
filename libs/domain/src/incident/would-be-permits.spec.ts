import { describe, expect, it } from 'vitest';
import { defaultStorm } from '#contracts';
import { asksOf, wouldBePermits, type WouldBeAsk } from './would-be-permits.js';

const MIN = 60_000;
const END = 24 * 60 * MIN;
const fleet = { members: 20, limits: defaultStorm };
const ask = (name: string, from: number, until = END, node = name): WouldBeAsk => ({
  ...{ incident: `i-${name}`, node, from, until },
});
/** Twelve, half a minute apart. */
const twelve = (lastsMs: number): WouldBeAsk[] =>
  Array.from({ length: 12 }, (_, n) => ask(`n-${n}`, n * 30_000, n * 30_000 + lastsMs));

describe('permits that would have been given', () => {
  it('are as many within ten minutes as CAP allows', () => {
    const { granted, stopped } = wouldBePermits(twelve(3 * MIN), [], fleet);
    expect(granted.map((g) => g.node)).toEqual(['n-0', 'n-1', 'n-2']);
    expect([...stopped.values()]).toEqual(Array.from({ length: 9 }, () => 'CAP'));
  });

  it('come late for those that are still dead when the first are ten minutes old, by who asked first', () => {
    const { granted, stopped } = wouldBePermits(twelve(END), [], fleet);
    expect(granted.map((g) => [g.node, g.at / MIN])).toEqual([
      ...[0, 1, 2].map((n) => [`n-${n}`, n / 2]),
      ...[3, 4, 5].map((n) => [`n-${n}`, 10 + (n - 3) / 2]),
      ...[6, 7, 8].map((n) => [`n-${n}`, 20 + (n - 6) / 2]),
      ...[9, 10, 11].map((n) => [`n-${n}`, 30 + (n - 9) / 2]),
    ]);
    expect(stopped.size).toBe(0);
  });

  it('never are more than the larger of both limits of CAP', () => {
    const { granted } = wouldBePermits(twelve(3 * MIN), [], { ...fleet, members: 50 });
    expect(granted).toHaveLength(5);
  });

  it('are no more for one node than FLAPPING allows, while others get theirs', () => {
    const limits = { ...defaultStorm, capAtLeast: 9, flaps: 2 };
    const asks = [0, 1, 2].map((n) => ask(`a-${n}`, n * MIN, n * MIN + 30_000, 'a'));
    const { granted, stopped } = wouldBePermits([...asks, ask('b', 3 * MIN)], [], { members: 20, limits });
    expect(granted.map((g) => g.incident)).toEqual(['i-a-0', 'i-a-1', 'i-b']);
    expect([...stopped]).toEqual([['i-a-2', 'FLAPPING']]);
  });

  it('count those that were given while the mode was enforce, as long as they are young', () => {
    const given = ['x', 'y', 'z'].map((node) => ({ incident: `i-${node}`, node, at: 0 }));
    const asks = [ask('a', 9 * MIN, 9.5 * MIN), ask('b', 10 * MIN)];
    const { granted, stopped } = wouldBePermits(asks, given, fleet);
    expect(granted.map((g) => g.node)).toEqual(['b']);
    expect([...stopped]).toEqual([['i-a', 'CAP']]);
  });

  it('are given once per incident, however often it asks', () => {
    const asks = [0, 1, 2, 3].map((n) => ask('a', n * MIN, (n + 0.5) * MIN));
    expect(wouldBePermits(asks, [], fleet).granted).toEqual([{ incident: 'i-a', node: 'a', at: 0 }]);
  });
});

it('an incident asks while mode observe stops it, and no longer', () => {
  const steps = [
    { at: 1, isObserved: false },
    { at: 2, isObserved: true },
    { at: 3, isObserved: true },
    { at: 5, isObserved: false },
    { at: 8, isObserved: true },
  ];
  const who = { incident: 'i', node: 'n' };
  expect(asksOf(who, steps, 9)).toEqual([
    { ...who, from: 2, until: 5 },
    { ...who, from: 8, until: 9 },
  ]);
});

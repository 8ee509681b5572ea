import { describe, expect, it } from 'vitest';
import { drawHands } from './hands-history.js';
import { namedHistories, type NamedHistory } from './named-histories.js';
import { hands } from './play-hands.js';

/** Of the crash points of each named history in `npm test`; all of them are swept by `npm run test:long`. */
const EVERY = 97;

describe.each(Object.entries(namedHistories))('the history %s', (_name, named) => {
  it('breaks no rule, whichever of its calls is the last of its process', async () => {
    const { violations } = await hands.sweep(named, { every: EVERY });
    expect(violations).toEqual([]);
  });
});

it('a sweep begins at the crash point that is asked for', async () => {
  const played: number[] = [];
  const named = namedHistories['death-off'] as NamedHistory;
  const play = async function* (indices: readonly number[]) {
    played.push(...indices);
    for (const _ of indices) yield hands.oneNamed(named);
  };
  await hands.sweep(named, { play, every: 100_000, from: 3 });
  expect(played).toEqual([3]);
});

it('fencers that cannot act do not hand the lease to and fro', async () => {
  const { violations, probes } = await hands.oneNamed(namedHistories['nobody-can-fork'] as NamedHistory);
  expect(violations).toEqual([]);
  expect(probes.get('a lease changed hands')).toBeLessThanOrEqual(2);
});

describe('random histories of the hands', () => {
  it('break no rule', async () => {
    const { violations, probes } = await hands.random(40, 1);
    expect(violations).toEqual([]);
    expect(probes['fenced: read-back']).toBeGreaterThan(10);
    expect(probes['a job was taken over']).toBeGreaterThan(2);
  });

  it('are the same each time, whether or not somebody reads along', async () => {
    const one = await hands.one(drawHands(3, 1));
    const again = await hands.one(drawHands(3, 1), { told: () => undefined });
    expect(again).toEqual(one);
    expect((await hands.one(drawHands(3, 2))).hash).not.toBe(one.hash);
  });
});

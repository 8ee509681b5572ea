import type { EventStorage } from '#bus';
import type { Concern } from '../concern.js';

/** Of the stream, for verdicts: the rest is for audit, incidents and all else, which a fleet that flaps must not push out. */
const SHARE = 0.5;
/** Thinned to so much of the share, so that it is not done at every look. */
const DOWN_TO = 0.75;
/** Thinned one by one are so many nodes at most: the server holds the stream up for each. */
const MOST_ONE_BY_ONE = 50;
/** Bytes of a message that is no verdict, about. */
const OTHER_BYTES = 600;

/** Keeps the verdicts from pushing everything else out of the stream that they share with the events. */
export const verdictRetention: Concern = {
  // A fleet of 1,000 that flaps as fast as it can stores some 100 MB in that time.
  pace: { everyMs: 30_000 },
  asks: () => ({ events: true }),
  plan: ({ answers: { events } }) => {
    const newest = events === undefined ? new Map<string, number>() : thinned(events);
    if (newest.size === 0) return [];
    const log = {
      level: 'warn' as const,
      facts: { nodes: newest.size },
      message: 'nodes change so often that only their newest verdicts are kept',
    };
    return [{ do: 'keep-verdicts', newest, about: {}, reason: 'There is no room for more.', log }];
  },
};

/**
 * Who has more verdicts stored than there is room for, and how many of the newest each of them keeps; nobody while all
 * fit. Every node keeps as many as any other, so that those that change all the time lose their oldest, and one that
 * changes seldom loses none: of 1,000 nodes each may change about a hundred times a day and keep all of that day. Where
 * more than a few would lose some, the fleet flaps as a whole, and its oldest go: `*`.
 */
export function thinned(s: EventStorage): Map<string, number> {
  const count = [...s.verdicts.values()].reduce((a, b) => a + b, 0);
  if (s.mostBytes === undefined || count === 0) return new Map();
  const bytes = Math.max(0, s.bytes - (s.messages - count) * OTHER_BYTES);
  const most = s.mostBytes * SHARE;
  if (bytes <= most) return new Map();
  const room = Math.floor((most * DOWN_TO * count) / bytes);
  const keep = fairShare([...s.verdicts.values()], room);
  const over = [...s.verdicts].filter(([, n]) => n > keep).map(([node]) => node);
  return over.length > MOST_ONE_BY_ONE ? new Map([['*', room]]) : new Map(over.map((node) => [node, keep]));
}

/** The highest number that each may keep so that together they keep at most `room`; one at least. */
export function fairShare(counts: readonly number[], room: number): number {
  let left = room;
  const sorted = [...counts].sort((a, b) => a - b);
  for (const [i, n] of sorted.entries()) {
    const each = Math.floor(left / (sorted.length - i));
    if (n > each) return Math.max(1, each);
    left -= n;
  }
  return Math.max(1, sorted.at(-1) ?? 1);
}

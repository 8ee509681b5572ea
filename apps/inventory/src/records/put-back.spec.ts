import { describe, expect, it } from 'vitest';
import type { BucketName } from '#contracts';
import {
  decideSeen,
  LOST_TAIL_MS,
  MARK_EVERY_MS,
  nothingSeen,
  readSeen,
  writtenSeen,
  type SeenStore,
  type StoreNow,
} from './put-back.js';

const born = new Date(Date.UTC(2026, 0, 1));
const wall = Date.UTC(2026, 5, 1);
interface Of {
  made?: Date;
  generation?: number;
}
/** A store of one write a minute, and of nodes that nobody edits. */
const store = (leases: number, { made = born, generation = 4 }: Of = {}, nodes = 7): StoreNow => ({
  generation,
  buckets: new Map(
    Object.entries({ leases, nodes, settings: 9 }).map(([bucket, lastSeq]) => [
      bucket as BucketName,
      { created: made, lastSeq },
    ]),
  ),
});
const minute = (m: number) => ({ at: wall + m * MARK_EVERY_MS, watchedMs: m * MARK_EVERY_MS });

/** What is remembered after these looks, in none of which anything was found. */
function after(seen: SeenStore, ...looks: [StoreNow, { at: number; watchedMs: number }][]): SeenStore {
  return looks.reduce((now, look) => {
    const decided = decideSeen(now, ...look);
    expect(decided.found).toBeUndefined();
    return decided.seen;
  }, seen);
}
/** A look each minute, each of which finds one more write. */
const watched = (minutes: number, of?: Of, seen = nothingSeen): SeenStore =>
  after(
    seen,
    ...Array.from({ length: minutes + 1 }, (_, m): [StoreNow, ReturnType<typeof minute>] => [
      store(100 + m, of),
      minute(m + (seen.marks.at(-1)?.watchedMs ?? 0) / MARK_EVERY_MS),
    ]),
  );
const found = (seen: SeenStore, now: StoreNow, m = 21) => decideSeen(seen, now, minute(m)).found;

describe('files of the store that were put back', () => {
  it('are those that lack what a bucket had five minutes before it was seen last', () => {
    expect(found(watched(20), store(120))).toBeUndefined();
    expect(found(watched(20), store(114))).toEqual({
      ...{ by: 'revision', bucket: 'leases', seen: 115, ends: 114 },
      at: minute(15).at,
    });
    expect(found(watched(20), store(500, {}, 6))).toMatchObject({ bucket: 'nodes', seen: 7, ends: 6 });
  });

  it('are found by each look until the store has begun a generation, and not after it', () => {
    const seen = watched(20);
    const decided = decideSeen(seen, store(50), minute(21));
    expect(decided.seen).toBe(seen);
    const begun = after(seen, [store(51, { generation: 5 }), minute(21)]);
    expect(begun.marks).toHaveLength(1);
    expect(
      found(after(begun, [store(52, { generation: 5 }), minute(22)]), store(53, { generation: 5 })),
    ).toBeUndefined();
  });

  it('are those of a generation below one that was seen, at once', () => {
    const seen = watched(1, { generation: 5 });
    expect(found(seen, store(9_000, { generation: 4 }), 2)).toEqual({
      ...{ by: 'generation', seen: 5, ends: 4 },
      at: wall,
    });
  });

  it('are those of before a load, whose buckets are others: an installation that went to three servers and back', () => {
    const one = watched(20, { generation: 0 });
    const moved = { made: new Date(Date.UTC(2026, 1, 1)), generation: 5 };
    const back = { made: new Date(Date.UTC(2026, 2, 1)), generation: 6 };
    const three = watched(20, moved, one);
    expect(three.stores.map((s) => s.generation)).toEqual([0, 5]);
    // Loaded into one server again.
    expect(watched(20, back, three).stores.map((s) => s.generation)).toEqual([0, 5, 6]);
    // Or the one server of before was started as it was left, or later that of three.
    expect(found(three, store(121, { generation: 0 }), 42)).toMatchObject({ by: 'generation', seen: 5, ends: 0 });
    expect(found(watched(1, back, three), store(121, moved), 60)).toMatchObject({ seen: 6, ends: 5 });
    // Said to be restored, it is the one that counts.
    expect(found(three, store(121, { generation: 7 }), 42)).toBeUndefined();
    expect(found(after(three, [store(121, { generation: 7 }), minute(42)]), store(200, moved), 43)).toMatchObject({
      by: 'generation',
      seen: 7,
    });
  });

  it('are not the tail that was lost with the power, which is told, and not found later in a bucket that is quiet', () => {
    const seen = watched(20);
    // Nodes were edited in the last minutes.
    const edited = after(seen, [store(121, {}, 8), minute(21)]);
    const lost = decideSeen(edited, store(117, {}, 7), minute(21.2));
    expect(lost.found).toBeUndefined();
    expect(lost.lost).toEqual([
      { bucket: 'leases', seen: 121, ends: 117 },
      { bucket: 'nodes', seen: 8, ends: 7 },
    ]);
    let now = lost.seen;
    for (let m = 22; m < 60; m++) now = after(now, [store(117 + m - 21), minute(m)]);
    expect(decideSeen(now, store(200), minute(60)).lost).toEqual([]);
  });

  it('are not known by a wall clock, which is set forward and back', () => {
    for (const set of [-3_600_000, 3_600_000, 400 * 86_400_000]) {
      const seen = after(nothingSeen, [store(100), minute(0)], [store(110), { at: wall + set, watchedMs: 60_000 }]);
      // A minute has passed, whatever the clock says: what was written in it may be lost.
      expect(found(seen, store(99), 2)).toBeUndefined();
      const solid = after(
        watched(20),
        [store(121), { at: wall + set, watchedMs: 21 * MARK_EVERY_MS }],
        [store(122), { at: wall + set + 1, watchedMs: 22 * MARK_EVERY_MS }],
      );
      expect(found(solid, store(100), 23)).toMatchObject({ seen: 117, at: minute(17).at });
    }
  });

  it('are not what an older data folder makes of a store that went on, as of an inventory that was off for a week', () => {
    const seen = watched(20);
    expect(found(seen, store(10_000, {}, 90))).toBeUndefined();
    // Which was loaded meanwhile, or said to be restored.
    expect(found(seen, store(20, { generation: 5 }))).toBeUndefined();
    expect(found(seen, store(20, { made: new Date(), generation: 5 }))).toBeUndefined();
    // Back, it remembers what it finds, and keeps nothing of the week before that it needs no more.
    const back = after(seen, [store(10_000), minute(21)], [store(10_001), minute(22)]);
    expect(back.marks.at(-1)?.buckets['leases']?.lastSeq).toBe(10_001);
  });

  it('are found by one that was off where nobody has told it since', () => {
    expect(found(watched(20), store(40))).toMatchObject({ by: 'revision' });
  });

  it('are not those of a store that was never seen: a data folder of another installation', () => {
    const other = { made: new Date(Date.UTC(2025, 0, 1)), generation: 0 };
    expect(found(watched(20), store(3, other))).toBeUndefined();
    expect(after(watched(20), [store(3, other), minute(21)]).marks).toHaveLength(1);
  });

  it('are not a bucket that was made anew, or that is not there', () => {
    const seen = watched(20);
    const anew = store(121);
    anew.buckets.set('leases', { created: new Date(), lastSeq: 1 });
    expect(found(seen, anew)).toBeUndefined();
    anew.buckets.set('leases', undefined);
    expect(found(seen, anew)).toBeUndefined();
    // Its generation is gone with it, and that of the store is not lower for that.
    anew.buckets.set('settings', { created: new Date(), lastSeq: 1 });
    const without = after(seen, [{ ...anew, generation: 0 }, minute(21)], [{ ...anew, generation: 0 }, minute(22)]);
    expect(found(without, { ...anew, generation: 0 }, 23)).toBeUndefined();
    anew.buckets.set('settings', undefined);
    expect(decideSeen(seen, { ...anew, generation: 0 }, minute(21))).toEqual({ seen, lost: [] });
  });

  it('are not known where too little is remembered', () => {
    expect(found(nothingSeen, store(1))).toBeUndefined();
    expect(found(watched(4), store(1), 5)).toBeUndefined();
  });

  it('are known from what was written, which is not taken where it is something else', () => {
    expect(readSeen('lab', writtenSeen('lab', watched(9)))).toEqual(watched(9));
    expect(() => readSeen('lab', writtenSeen('other', watched(9)))).toThrow('it is of the cluster other');
    const mark = { at: 1, watchedMs: 1, generation: 1, buckets: {} };
    const known = { born: born.toISOString(), generation: 1, at: 1 };
    const wrong = (marks: unknown, stores: unknown) => JSON.stringify({ cluster: 'lab', marks, stores });
    expect(readSeen('lab', wrong([mark], [known]))).toEqual({ marks: [mark], stores: [known] });
    for (const text of [
      ...['', '{', 'null', '3', '{}', wrong([], {}), wrong([null], []), wrong([], [null])],
      ...[{ at: '1' }, { at: 9e15 }, { watchedMs: null }, { generation: -1 }, { buckets: null }].map((m) =>
        wrong([{ ...mark, ...m }], []),
      ),
      wrong([{ ...mark, buckets: { leases: { created: 1, lastSeq: 1 } } }], []),
      wrong([{ ...mark, buckets: { leases: { created: 'x', lastSeq: 'y' } } }], []),
      ...[{ born: 1 }, { generation: 0.5 }, { at: null }].map((s) => wrong([], [{ ...known, ...s }])),
    ])
      expect(() => readSeen('lab', text)).toThrow(/JSON|does not say/);
  });

  it('are remembered by few marks and stores', () => {
    const seen = watched(500);
    expect(seen.marks.map((m) => m.watchedMs / MARK_EVERY_MS)).toEqual([495, 496, 497, 498, 499, 500]);
    expect(LOST_TAIL_MS / MARK_EVERY_MS).toBe(5);
    expect(decideSeen(seen, store(700), { at: wall, watchedMs: 500 * MARK_EVERY_MS + 1 }).seen).toBe(seen);
    let now = seen;
    for (let g = 5; g < 90; g++) now = after(now, [store(1, { made: new Date(g), generation: g }), minute(500 + g)]);
    expect(now.stores).toHaveLength(16);
    expect(now.stores.at(-1)?.generation).toBe(89);
  });
});

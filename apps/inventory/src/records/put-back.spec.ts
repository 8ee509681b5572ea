import { describe, expect, it } from 'vitest';
import type { BucketName } from '#contracts';
import { MARK_EVERY_MS, putBack, readMarks, withMark, type StoreMark } from './put-back.js';

const born = new Date(Date.UTC(2026, 0, 1));
const facts = (o: Partial<Record<BucketName, number>>, created = born, generation = 4) => ({
  generation,
  buckets: new Map(Object.entries(o).map(([bucket, lastSeq]) => [bucket as BucketName, { created, lastSeq }])),
});
/** A look each minute, each of which finds one more write. */
const remembered = (minutes: number): readonly StoreMark[] =>
  Array.from({ length: minutes + 1 }, (_, m) => m).reduce<readonly StoreMark[]>(
    (marks, m) => withMark(marks, facts({ leases: 100 + m, nodes: 7 }), m * MARK_EVERY_MS),
    [],
  );

describe('files of the store that were put back', () => {
  it('are those that lack what a bucket had five minutes before it was seen last', () => {
    const marks = remembered(20);
    expect(putBack(marks, facts({ leases: 120, nodes: 7 }))).toBeUndefined();
    expect(putBack(marks, facts({ leases: 114, nodes: 7 }))).toEqual({
      ...{ bucket: 'leases', seen: 115, ends: 114 },
      at: 15 * MARK_EVERY_MS,
    });
    expect(putBack(marks, facts({ leases: 500, nodes: 6 }))).toMatchObject({ bucket: 'nodes', seen: 7, ends: 6 });
  });

  it('are not the tail that was lost with the power, a bucket that was made anew, or one that is not there', () => {
    const marks = remembered(20);
    expect(putBack(marks, facts({ leases: 115, nodes: 7 }))).toBeUndefined();
    expect(putBack(marks, facts({ leases: 1, nodes: 1 }, new Date()))).toBeUndefined();
    expect(putBack(marks, { generation: 4, buckets: new Map([['leases', undefined]]) })).toBeUndefined();
  });

  it('are not those of a store that was loaded, or said to be restored, since', () => {
    expect(putBack(remembered(20), facts({ leases: 1 }, born, 5))).toBeUndefined();
    expect(putBack(remembered(20), facts({ leases: 1 }, born, 3))).toMatchObject({ ends: 1 });
  });

  it('are not known where too little is remembered', () => {
    expect(putBack([], facts({ leases: 1 }))).toBeUndefined();
    expect(putBack(remembered(4), facts({ leases: 1 }))).toBeUndefined();
  });

  it('are known from what was written, which is not taken where it is something else', () => {
    expect(readMarks(JSON.stringify(remembered(9)))).toEqual(remembered(9));
    for (const text of ['{}', '[null]', '[{"at":1,"generation":1}]', '[{"at":"1","generation":1,"buckets":{}}]', '['])
      expect(() => readMarks(text)).toThrow(/JSON|no marks/);
  });

  it('are remembered by few marks, also when the clock is set', () => {
    const marks = remembered(500);
    expect(marks.map((m) => m.at / MARK_EVERY_MS)).toEqual([495, 496, 497, 498, 499, 500]);
    expect(withMark(marks, facts({ leases: 1 }), 500 * MARK_EVERY_MS + 1)).toBe(marks);
    const back = withMark(marks, facts({ leases: 700 }), 3);
    expect(back).toEqual([
      { at: 3, generation: 4, buckets: { leases: { created: born.toISOString(), lastSeq: 700 } } },
    ]);
    expect(withMark(marks, facts({ leases: 700 }), 9_000 * MARK_EVERY_MS)).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs } from '#contracts/testing/chance.js';
import { hunksOf } from './line-diff.js';

/** As `diff -u` prints them, without the names. */
const unified = (a: string[], b: string[]): string[] =>
  hunksOf(a, b).flatMap(({ head, lines }) => [head, ...lines.map((l) => `${l.tag}${l.tag === '+' ? b[l.b] : a[l.a]}`)]);
const letters = (text: string): string[] => [...text];

describe('what differs between two texts, line by line', () => {
  it('is nothing where they are the same', () => {
    expect([unified([], []), unified(['a'], ['a'])]).toEqual([[], []]);
  });

  it('is shown with three lines around it, and counted from 1', () => {
    expect(unified(letters('abcdefghi'), letters('abcdXfghi'))).toEqual([
      '@@ -2,7 +2,7 @@',
      ...[' b', ' c', ' d', '-e', '+X', ' f', ' g', ' h'],
    ]);
    expect(unified([], ['x'])).toEqual(['@@ -0,0 +1 @@', '+x']);
    expect(unified(['x', 'y'], [])).toEqual(['@@ -1,2 +0,0 @@', '-x', '-y']);
  });

  it('stands together where what is around it meets, and apart where it does not', () => {
    expect(unified(letters('aXbcdefY'), letters('abcdef'))).toHaveLength(9);
    const apart = unified(letters('Xabcdefgh'), letters('abcdefghY'));
    expect(apart.filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,4 +1,3 @@', '@@ -7,3 +6,4 @@']);
  });

  it('turns the one into the other, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const hunks = hunksOf(a, b);
        const made: string[] = [];
        let at = 0;
        for (const line of hunks.flatMap((h) => h.lines)) {
          const from = line.tag === '+' ? undefined : line.a;
          while (from !== undefined && at < from) made.push(a[at++] as string);
          if (line.tag === '+') made.push(b[line.b] as string);
          else if (line.tag === ' ') made.push(a[at++] as string);
          else at++;
        }
        expect([...made, ...a.slice(at)]).toEqual(b);
      }),
      { numRuns: runs(300) },
    );
  });

  it('of two long texts that have little in common is told at once, as one change', () => {
    const long = (what: string): string[] => Array.from({ length: 3_000 }, (_, i) => `${what}${i % 1_500}`);
    expect(unified(long('a'), long('b'))).toHaveLength(6_001);
  });
});

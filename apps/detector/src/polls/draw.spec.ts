import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { POLLED_MOST } from '#contracts';
import { seeded } from '#contracts/testing/chance.js';
import { drawPolled } from './draw.js';

const names = (n: number): string[] => Array.from({ length: n }, (_, i) => `n${i}`);

describe('who is polled about a suspect', () => {
  it('is every member but the suspect while there are not more than can be drawn', () => {
    expect(drawPolled([], names(40), 'n7', seeded(1)).sort()).toEqual(
      names(40)
        .filter((n) => n !== 'n7')
        .sort(),
    );
    expect(drawPolled([], names(40), 'not-a-member', seeded(1))).toHaveLength(40);
    expect(drawPolled([], [], 'n0', seeded(1))).toEqual([]);
  });

  it('is never the suspect, nobody twice, only members, and as many as can be drawn', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer(), fc.array(fc.nat(400)), (n, seed, was) => {
        const drawn = drawPolled([...new Set(was.slice(0, 64).map((i) => `n${i}`))], names(n), 'n0', seeded(seed));
        expect(new Set(drawn).size).toBe(drawn.length);
        expect(drawn.every((o) => o !== 'n0' && names(n).includes(o))).toBe(true);
        expect(drawn).toHaveLength(Math.min(POLLED_MOST, n - 1));
      }),
    );
  });

  it('draws evenly', () => {
    const random = seeded(3);
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i++)
      for (const o of drawPolled([], names(200), 'n0', random)) counts.set(o, (counts.get(o) ?? 0) + 1);
    // 2,000 × 64 / 199 = 643, with a standard deviation of 21.
    for (const o of names(200).slice(1)) expect(Math.abs((counts.get(o) ?? 0) - 643)).toBeLessThan(110);
  });

  it('stays as it was for the whole suspicion; only who is no member any more is replaced', () => {
    const members = names(200);
    const first = drawPolled([], members, 'n0', seeded(5));
    expect(drawPolled(first, members, 'n0', seeded(6))).toEqual(first);
    const gone = first[3] as string;
    const next = drawPolled(
      first,
      members.filter((m) => m !== gone),
      'n0',
      seeded(6),
    );
    expect(next).toHaveLength(POLLED_MOST);
    expect(next).not.toContain(gone);
    expect(next.slice(0, -1)).toEqual(first.filter((o) => o !== gone));
  });
});

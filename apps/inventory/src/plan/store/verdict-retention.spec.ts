import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { EventStorage } from '#bus';
import { fairShare, thinned } from './verdict-retention.js';

const MiB = 1024 * 1024;
const stored = (verdicts: Record<string, number>, o: Partial<EventStorage> = {}): EventStorage => ({
  bytes: 600 * MiB,
  messages: 100_000,
  mostBytes: 1024 * MiB,
  verdicts: new Map(Object.entries(verdicts)),
  ...o,
});

describe('the verdicts that are kept', () => {
  it('are all as long as they leave room for the rest of what happens', () => {
    expect(thinned(stored({ a: 100_000 }, { bytes: 512 * MiB })).size).toBe(0);
    expect(thinned(stored({ a: 100_000 }, { bytes: 512 * MiB + 1 })).size).toBe(1);
    const mostlyOthers = { bytes: 600 * MiB, messages: 1_000_000 };
    expect(thinned(stored({ a: 100 }, mostlyOthers)).size).toBe(0);
  });

  it('lose the oldest of those that change all the time, and none of the others', () => {
    const { mostBytes: _no, ...unlimited } = stored({ a: 1 });
    expect(thinned(unlimited).size).toBe(0);
    const s = stored({ quiet: 4, calm: 300, flaps: 60_000, storms: 39_696 });
    const cut = thinned(s);
    expect([...cut.keys()]).toEqual(['flaps', 'storms']);
    expect(cut.get('flaps')).toBe(cut.get('storms'));
    expect(cut.get('flaps')).toBeGreaterThan(30_000);
  });

  it('are the newest of all where a whole fleet flaps', () => {
    const of = (nodes: number) => Object.fromEntries(Array.from({ length: nodes }, (_, i) => [`n${i}`, 1000]));
    expect(thinned(stored(of(50))).size).toBe(50);
    const [[all, keep] = []] = thinned(stored(of(100)));
    expect([all, keep]).toEqual(['*', 64_000]);
  });

  it('of a fleet of 1,000 are those of a day in which each node changed a hundred times', () => {
    // 16 observers on two networks: 4.6 KB.
    const fleet = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`n${i}`, 100]));
    expect(thinned(stored(fleet, { bytes: 100_000 * 4_700, messages: 100_000 })).size).toBe(0);
  });

  it('are as many of each as fit together, and at least the last', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1, maxLength: 50 }), fc.nat(5_000), (counts, room) => {
        const keep = fairShare(counts, room);
        const kept = (each: number): number => counts.reduce((sum, n) => sum + Math.min(n, each), 0);
        expect(keep).toBeGreaterThanOrEqual(1);
        if (keep > 1) expect(kept(keep)).toBeLessThanOrEqual(room);
        const all = Math.max(...counts);
        if (keep < all) expect(kept(keep + 1)).toBeGreaterThan(room);
      }),
      { seed: 24 },
    );
  });
});

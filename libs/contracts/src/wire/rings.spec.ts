import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { RING_COUNT, SMALL_FLEET, WatchPlan, type WatchedNode } from './rings.js';
import { runs } from '../testing/chance.js';

const fleet = (n: number, out: (i: number) => boolean = () => false): WatchedNode[] =>
  Array.from({ length: n }, (_, i) => ({ name: `node-${i}`, member: !out(i) }));

describe('who watches whom', () => {
  it('is everybody in a small fleet', () => {
    const plan = new WatchPlan(fleet(4));
    expect(plan.observersOf('node-2')).toEqual(['node-0', 'node-1', 'node-3']);
    expect(plan.peersOf('node-2')).toEqual(['node-0', 'node-1', 'node-3']);
  });

  it('gives no vote to who is no member, yet has it watched and lets it hear its fleet', () => {
    const plan = new WatchPlan(fleet(4, (i) => i === 1));
    expect(plan.observersOf('node-1')).toEqual(['node-0', 'node-2', 'node-3']);
    expect(plan.observersOf('node-0')).toEqual(['node-2', 'node-3']);
    expect(plan.peersOf('node-1')).toEqual(['node-0', 'node-2', 'node-3']);
    expect(plan.peersOf('node-0')).toContain('node-1');
  });

  it('is K distinct members for each node of a larger one, none of them itself, the same from any order of the list', () => {
    fc.assert(
      fc.property(fc.integer({ min: SMALL_FLEET + 1, max: 120 }), fc.integer({ min: 0, max: 30 }), (n, every) => {
        const nodes = fleet(n, (i) => every > 1 && i % every === 0);
        const plan = new WatchPlan(nodes);
        const again = new WatchPlan([...nodes].reverse());
        const members = new Set(nodes.filter((x) => x.member).map((x) => x.name));
        for (const { name, member } of nodes) {
          const observers = plan.observersOf(name);
          expect(new Set(observers).size).toBe(Math.min(RING_COUNT, members.size - (member ? 1 : 0)));
          expect(observers).not.toContain(name);
          expect(observers.every((o) => members.has(o) && plan.peersOf(o).includes(name))).toBe(true);
          expect(again.observersOf(name)).toEqual(observers);
        }
      }),
      { numRuns: runs(30) },
    );
  });

  it('spreads the load, and moves few observers when one node is added', () => {
    const before = new WatchPlan(fleet(200));
    const after = new WatchPlan(fleet(201));
    const names = fleet(200).map((n) => n.name);
    const loads = names.map((n) => before.peersOf(n).length);
    expect(Math.max(...loads)).toBeLessThanOrEqual(RING_COUNT + 6);
    const moved = names.map((n) => after.observersOf(n).filter((o) => !before.observersOf(n).includes(o)).length);
    expect(moved.reduce((a, b) => a + b, 0)).toBeLessThan(RING_COUNT * 8);
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Assignment } from '#contracts';
import { aWorkload } from '#contracts/testing/a-workload.js';
import {
  capacityOf,
  placementRefusal,
  placeWorkloads,
  weights,
  type CandidateNode,
  type Waiting,
} from './placement.js';

const host = (name: string, o: Partial<CandidateNode> = {}): CandidateNode => ({
  name,
  capacity: Infinity,
  used: 0,
  reserve: false,
  ...o,
});
const work = (name: string, o: Partial<Waiting> = {}): Waiting => ({ name, priority: 0, weight: 1, ...o });

describe('placement', () => {
  it('spreads the work of a dead node', () => {
    const to = placeWorkloads(
      ['a', 'b', 'c', 'd'].map((n) => work(n)),
      [host('n1'), host('n2')],
    ).map((p) => p.to);
    expect(to).toEqual(['n1', 'n2', 'n1', 'n2']);
  });

  it('takes the nodes that are kept for recoveries first', () => {
    expect(placeWorkloads([work('a')], [host('n1'), host('n2', { reserve: true, used: 5 })])[0]?.to).toBe('n2');
  });

  it('takes those last that did not get it started, and takes them where there is no other', () => {
    const w = work('a', { leftOut: ['n2'] });
    expect(placeWorkloads([w], [host('n1', { used: 5 }), host('n2', { reserve: true })])[0]?.to).toBe('n1');
    expect(placeWorkloads([w], [host('n1', { out: 'cordoned' }), host('n2')])[0]?.to).toBe('n2');
  });

  it('gives the last room to the higher priority, and says what stands against each node', () => {
    const candidates = [
      host('n1', { capacity: 1 }),
      host('n2', { out: 'it is cordoned' }),
      host('n3', { hostGroup: 'db' }),
    ];
    const [first, second] = placeWorkloads(
      [work('low', { hostGroup: 'web' }), work('high', { priority: 9, hostGroup: 'web' })],
      candidates.map((h) => ({ ...h, hostGroup: h.hostGroup ?? 'web' })),
    );
    expect(first).toMatchObject({ workload: 'high', to: 'n1' });
    expect(second?.to).toBeUndefined();
    expect(second?.why).toMatch(/n1 has 0 of 1 left.*n2 it is cordoned.*n3 is not in web/);
  });

  it.each([
    ['OUT_OF_SERVICE', host('n1', { out: 'it is cordoned', capacity: 0 })],
    ['HOST_GROUP', host('n1', { hostGroup: 'db', capacity: 0 })],
    ['CAPACITY', host('n1', { hostGroup: 'web', capacity: 3, used: 3 })],
    [undefined, host('n1', { hostGroup: 'web', capacity: 4, used: 3 })],
  ])('refuses a node by the code %s', (code, node) => {
    expect(placementRefusal(work('a', { hostGroup: 'web' }), node)?.code).toBe(code);
  });

  it('reads a capacity, and takes nonsense for none given', () => {
    expect([{ capacity: 4 }, { capacity: '4' }, {}, { capacity: 'x' }, { capacity: -1 }].map(capacityOf)).toEqual([
      4,
      4,
      Infinity,
      Infinity,
      Infinity,
    ]);
  });

  it('never uses a node out of service, of another group or over its capacity; leaves nothing that fits; is repeatable', () => {
    const groups = fc.constantFrom('web', 'db', undefined);
    const candidates = fc.uniqueArray(
      fc.record({
        name: fc.string({ minLength: 1, maxLength: 3 }),
        hostGroup: groups,
        capacity: fc.constantFrom(0, 1, 3, 10, Infinity),
        used: fc.integer({ min: 0, max: 5 }),
        reserve: fc.boolean(),
        out: fc.constantFrom(undefined, undefined, 'out'),
      }),
      { selector: (h) => h.name, maxLength: 8 },
    );
    const waiting = fc.uniqueArray(
      fc.record({
        name: fc.string({ minLength: 1, maxLength: 3 }),
        priority: fc.integer({ min: 0, max: 3 }),
        hostGroup: groups,
        weight: fc.integer({ min: 0, max: 4 }),
      }),
      { selector: (w) => w.name, maxLength: 12 },
    );
    fc.assert(
      fc.property(candidates, waiting, (hs, ws) => {
        const placed = placeWorkloads(ws, hs);
        expect(placed).toHaveLength(ws.length);
        expect(placeWorkloads([...ws].reverse(), hs)).toEqual(placed);
        const used = new Map(hs.map((h) => [h.name, h.used]));
        for (const p of placed) {
          const w = ws.find((x) => x.name === p.workload);
          if (w === undefined) throw new Error('placed what nobody asked for');
          const fits = hs.filter(
            (h) =>
              h.out === undefined &&
              (w.hostGroup === undefined || h.hostGroup === w.hostGroup) &&
              (used.get(h.name) ?? 0) + w.weight <= h.capacity,
          );
          expect(p.to === undefined).toBe(fits.length === 0);
          if (p.to === undefined) continue;
          expect(fits.map((h) => h.name)).toContain(p.to);
          used.set(p.to, (used.get(p.to) ?? 0) + w.weight);
        }
      }),
    );
  });
});

describe('the room on a node', () => {
  it('is taken by what shall run there, by what has not yet left, and by what is on its way there', () => {
    const at = (node: string): Assignment => ({ node, generation: 1 });
    const stop = { cause: 'put', attempt: 0 };
    const move = { cause: 'drain', from: 'a', to: 'b' };
    const used = weights([
      aWorkload('runs', { assignment: at('a'), weight: 1 }),
      aWorkload('stopping', { assignment: at('a'), desired: 'stopped', stop, weight: 10 }),
      aWorkload('stopped', { assignment: at('a'), desired: 'stopped', weight: 100 }),
      aWorkload('leaving', { assignment: at('a'), stop, move, weight: 1000 }),
      aWorkload('left', { move, weight: 10_000 }),
      aWorkload('arriving', { assignment: at('c'), move, weight: 100_000 }),
    ]);
    expect(Object.fromEntries(used)).toEqual({ a: 1011, b: 1000, c: 100_000 });
  });
});

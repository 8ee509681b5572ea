import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { brakeLimit, capLimit, defaultStorm, type Permits } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { decidePermit, nothingToKeep, keepPermits, permitKey, type PermitRequest } from './permits.js';

const request = (n: number, members: number, o: Partial<PermitRequest> = {}): PermitRequest => ({
  incident: `i${n}`,
  node: aNode(`n-${n}`, { failureDomain: `d${n}` }),
  storm: { limits: defaultStorm, members, silent: [], unrecovered: [], domains: {}, domainOf: (x) => x },
  released: [],
  open: new Set(),
  ageMs: () => 0,
  newId: () => 's-1',
  at: 1,
  ...o,
});

describe('permits', () => {
  it('are given once per incident, however often it asks', () => {
    const first = decidePermit(undefined, request(1, 5));
    if (!first.granted) throw new Error('refused');
    const again = decidePermit(first.permits, request(1, 5));
    expect(again.granted && again.permits === undefined).toBe(true);
  });

  it('never exceed brake and cap, whoever asks in whatever order, each knowing nothing but the permits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 60 }),
        fc.array(fc.integer({ min: 0, max: 80 }), { maxLength: 80 }),
        (members, askers) => {
          let permits: Permits | undefined;
          for (const n of askers) {
            const d = decidePermit(permits, request(n, members));
            if (d.granted && d.permits !== undefined) permits = d.permits;
          }
          const granted = permits?.granted ?? [];
          expect(granted.length).toBeLessThanOrEqual(
            Math.min(brakeLimit(members, defaultStorm), capLimit(members, defaultStorm)),
          );
          expect(new Set(granted.map((g) => g.incident)).size).toBe(granted.length);
        },
      ),
    );
  });

  it('stop one death every 70 s at the cap of ten minutes', () => {
    let permits: Permits | undefined;
    const born = new Map<string, number>();
    const given: number[] = [];
    for (let n = 0; n < 12; n++) {
      const now = n * 70_000;
      const d = decidePermit(permits, request(n, 20, { ageMs: (i) => now - (born.get(i) ?? now) }));
      if (!d.granted || d.permits === undefined) {
        if (!d.granted) expect(d.gate.gate).toBe('CAP');
        continue;
      }
      permits = d.permits;
      born.set(permitKey(`i${n}`), now);
      given.push(n);
    }
    expect(given.slice(0, 4)).toEqual([0, 1, 2, 9]);
  });

  it('are not written where all is calm', () => {
    const some = fc.constantFrom<string[][]>([], [], ['n-1'], ['n-1', 'n-2', 'n-3']);
    const ms = fc.integer({ min: 0, max: 700_000 });
    let calm = 0;
    fc.assert(
      fc.property(
        fc.record({
          silent: some,
          open: some,
          granted: some,
          tripped: some,
          more: fc.constantFrom<Partial<Permits>>(
            {},
            { ages: { 'trip:s-1': 5, x: 0 } },
            { blindness: { epoch: 1, seq: 0 } },
          ),
          stored: fc.constantFrom('whole', 'no trips', 'nothing'),
          forMs: ms,
          calmMs: ms,
          ended: fc.boolean(),
        }),
        ({ silent, open, granted, tripped, more, stored, forMs, calmMs, ended }) => {
          const trips: NonNullable<Permits['trips']> = tripped.map((node) => ({
            ...{ id: `s-${node}`, cause: 'brake', at: 1, members: { [node]: {} } },
          }));
          const all: Permits = {
            granted: granted.map((node) => ({ incident: `i-${node}`, node, at: 1 })),
            ...more,
            ...(stored === 'whole' && { trips }),
          };
          const permits = stored === 'nothing' ? undefined : all;
          const is = nothingToKeep({
            permits,
            open: open.length > 0,
            blindnessEnded: ended,
            silent: () => silent.length,
          });
          if (!is) return;
          calm += 1;
          const { storm } = request(1, 5);
          const look = request(1, 5, {
            open: new Set(open.map((node) => `i-${node}`)),
            ageMs: () => forMs,
            storm: {
              ...storm,
              silent: silent.map((node) => ({ node, domain: 'd', forMs })),
              unrecovered: open,
              latch: {
                trips: permits?.trips ?? [],
                state: (node) => (silent.includes(node) ? 'rest' : 'up'),
                sees: true,
                settling: false,
                calmMs: () => calmMs,
                commanded: new Set(),
                blindness: ended ? { epoch: 1, seq: 1, silent } : undefined,
                wallNow: 1,
              },
            },
          });
          expect(keepPermits(permits, look)).toBeUndefined();
        },
      ),
    );
    expect(calm).toBeGreaterThan(0);
  });

  it('keep to the limits of the settings', () => {
    const limits = { ...defaultStorm, brakeAtLeast: 50, capAtLeast: 5, flaps: 1 };
    const storm = { ...request(0, 10).storm, limits };
    let permits: Permits | undefined;
    const refusals: string[] = [];
    for (const n of [1, 2, 3, 4, 5, 6, 1]) {
      const d = decidePermit(permits, request(n, 10, { storm, incident: `i${n}${refusals.length}` }));
      if (d.granted) permits = d.permits ?? permits;
      else refusals.push(d.gate.gate);
    }
    expect(refusals).toEqual(['CAP', 'CAP']);
    const again = decidePermit(
      { granted: [{ incident: 'x', node: 'n-1', at: 0 }] },
      request(1, 10, { storm, incident: 'y' }),
    );
    expect(again.granted ? '' : again.gate.gate).toBe('FLAPPING');
  });

  it('take a permit of unknown age for a recent one', () => {
    const permits: Permits = { granted: [1, 2, 3].map((n) => ({ incident: `x${n}`, node: `y${n}`, at: 0 })) };
    const d = decidePermit(permits, request(9, 5));
    expect(d.granted).toBe(false);
  });

  it('are given past a gate that an operator released, and only past that one', () => {
    const permits: Permits = { granted: [1, 2, 3].map((n) => ({ incident: `x${n}`, node: `y${n}`, at: 0 })) };
    const both = decidePermit(permits, request(9, 5, { released: ['BRAKE', 'CAP'] }));
    const one = decidePermit(permits, request(9, 5, { released: ['BRAKE'] }));
    expect([both.granted, one.granted]).toEqual([true, false]);
  });

  it('are dropped when they are old and their incident is over, kept while it is open', () => {
    const permits: Permits = { granted: [1, 2].map((n) => ({ incident: `x${n}`, node: `y${n}`, at: 0 })) };
    const d = decidePermit(permits, request(9, 5, { ageMs: () => 700_000, open: new Set(['x2']) }));
    if (!d.granted) throw new Error('refused');
    expect(d.permits?.granted.map((g) => g.incident)).toEqual(['x2', 'i9']);
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Hold, NodeRecord, OutReason } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { aNode } from '../../testing/fixtures.js';
import {
  checksToBegin,
  dueSince,
  isCalm,
  mayBeChecked,
  PERIODIC_AT_ONCE,
  servesOn,
  slotOf,
  type Pace,
  type WatchedNode,
} from './periodic-check.js';

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;
const node = (name: string, last?: number, failed = 0): WatchedNode => ({ name, last, failed });
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `host${i + 1}-SN${i + 1}`);
const anyPeriod = fc.integer({ min: 60_000, max: 30 * DAY });

describe('the moment of a node in each period', () => {
  it('is one in each period, and the last one that has come', () => {
    fc.assert(
      fc.property(fc.string(), anyPeriod, fc.integer({ min: 0, max: 2 * NOW }), (name, every, at) => {
        const slot = slotOf(name, every, at);
        expect(slot).toBeLessThanOrEqual(at);
        expect(at - slot).toBeLessThan(every);
        expect(slotOf(name, every, slot)).toBe(slot);
        expect(slotOf(name, every, slot + every)).toBe(slot + every);
        expect(slotOf(name, every, slot - 1)).toBe(slot - every);
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('spreads a fleet evenly over it, also one whose names differ in a digit only', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 1000 }),
        anyPeriod,
        fc.integer({ min: 0, max: NOW }),
        (count, every, at) => {
          const tenths = Array.from({ length: 10 }, () => 0);
          for (const name of names(count)) {
            const tenth = Math.floor(((at - slotOf(name, every, at)) / every) * 10);
            tenths[tenth] = (tenths[tenth] ?? 0) + 1;
          }
          for (const n of tenths) expect(Math.abs(n - count / 10)).toBeLessThan(5 * Math.sqrt(count / 10));
        },
      ),
      { seed: SEED, numRuns: runs(10) },
    );
  });
});

describe('a check of a node in service', () => {
  const slot = slotOf('a-1', DAY, NOW);

  it('is due from the first of its moments after the last check on', () => {
    expect(dueSince(node('a-1', slot - 1), DAY, NOW)).toBe(slot);
    expect(dueSince(node('a-1', slot), DAY, NOW)).toBeUndefined();
    expect(dueSince(node('a-1', slot), DAY, slot + DAY)).toBe(slot + DAY);
    expect(dueSince(node('a-1', slot - 3 * DAY), DAY, NOW)).toBe(slot - 2 * DAY);
  });
  it('is due where no last one is known, or it is yet to come', () => {
    expect(dueSince(node('a-1'), DAY, NOW)).toBe(0);
    expect(dueSince(node('a-1', NOW + 1), DAY, NOW)).toBe(0);
  });
  it('that could not be carried out is repeated after a minute, two, four …, and at its moment at the latest', () => {
    const waits = [1, 2, 3, 60].map((failed) => {
      const since = dueSince(node('a-1', slot, failed), DAY, slot + 2 * DAY);
      return since === undefined ? since : (since - slot) / 60_000;
    });
    expect(waits).toEqual([1, 2, 4, DAY / 60_000]);
    expect(dueSince(node('a-1', slot, 2), DAY, slot + 119_999)).toBeUndefined();
  });
});

describe('checks of nodes in service', () => {
  const due = names(50).map((name) => node(name));
  const pace = (o: Partial<Pace> = {}): Pace => ({ every: DAY, now: NOW, running: 0, ...o });

  it('are begun by nobody while the period is 0', () => {
    expect(checksToBegin(due, pace({ every: 0 }))).toEqual([]);
    expect(checksToBegin(due, pace())).toHaveLength(1);
  });
  it('are begun in the order in which they are due', () => {
    const late = [node('b-1', NOW - 3 * DAY), node('a-1', NOW - 5 * DAY), node('c-1', NOW - 1)];
    expect(checksToBegin(late, pace({ begun: 0 }))).toEqual(['a-1', 'b-1']);
  });
  it('are held up by none that runs too long: one more is begun beside it, and no third', () => {
    expect(checksToBegin(due, pace({ running: 1 }))).toHaveLength(1);
    expect(checksToBegin(due, pace({ running: 2 }))).toEqual([]);
    expect(checksToBegin(due, pace({ running: 9, begun: 0 }))).toEqual([]);
  });
  it('are not held up by one that was begun by another clock', () => {
    expect(checksToBegin(due, pace({ begun: NOW + DAY }))).toHaveLength(1);
  });

  /** Rounds of conductors that remember nothing but records, with gaps in which there is none. */
  function lives(o: { count: number; every: number; periods: number; known: boolean; gaps: number[]; takes: number }) {
    const fleet = new Map(names(o.count).map((name) => [name, node(name, o.known ? NOW - 1 : undefined)]));
    const begun: { name: string; at: number }[] = [];
    let running: { name: string; ends: number }[] = [];
    let most = 0;
    let round = 0;
    for (let now = NOW; now < NOW + o.periods * o.every; now += 1000 + (o.gaps[round++ % o.gaps.length] ?? 0)) {
      for (const r of running.filter((x) => x.ends <= now)) fleet.set(r.name, node(r.name, r.ends));
      running = running.filter((x) => x.ends > now);
      const free = [...fleet.values()].filter((n) => !running.some((r) => r.name === n.name));
      const last = begun.at(-1)?.at;
      for (const name of checksToBegin(free, { every: o.every, now, running: running.length, begun: last })) {
        begun.push({ name, at: now });
        running.push({ name, ends: now + o.takes });
      }
      most = Math.max(most, running.length);
    }
    return { begun, most };
  }
  const fleets = fc.record({
    count: fc.integer({ min: 1, max: 25 }),
    every: fc.integer({ min: 300_000, max: 1_200_000 }),
    periods: fc.constant(3),
    known: fc.boolean(),
    // A change of the leader takes up to 18 s.
    gaps: fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(18_000) }), {
      minLength: 1,
      maxLength: 50,
    }),
    takes: fc.integer({ min: 1000, max: 12_000 }),
  });

  it('come once to each node in each period, whoever is the conductor', () => {
    fc.assert(
      fc.property(fleets, (o) => {
        const { begun } = lives(o);
        for (const name of names(o.count)) {
          const own = begun.filter((b) => b.name === name).map((b) => b.at);
          // The first and the last moment may lie outside of what was looked at.
          expect(own.length).toBeGreaterThanOrEqual(o.periods - 1);
          expect(own.length).toBeLessThanOrEqual(o.periods + 1);
          for (const [i, at] of own.entries())
            if (i > 0) expect(at - (own[i - 1] ?? 0)).toBeLessThan(1.6 * o.every + 60_000);
        }
      }),
      { seed: SEED, numRuns: runs(12) },
    );
  });
  it('are never more than two at once, nor a burst where all are due at once', () => {
    fc.assert(
      fc.property(fleets, (o) => {
        const { begun, most } = lives({ ...o, known: false, periods: 1 });
        expect(most).toBeLessThanOrEqual(PERIODIC_AT_ONCE);
        const tenth = o.every / 10;
        for (const { at } of begun) {
          const near = begun.filter((b) => b.at >= at && b.at < at + tenth).length;
          expect(near).toBeLessThanOrEqual(Math.ceil((2 * o.count) / 10) + PERIODIC_AT_ONCE);
        }
      }),
      { seed: SEED, numRuns: runs(12) },
    );
  });
  it('of a fleet that is too large for the period come to every node all the same, in turn', () => {
    const { begun } = lives({ count: 60, every: 60_000, periods: 20, known: false, gaps: [0], takes: 12_000 });
    const perNode = names(60).map((name) => begun.filter((b) => b.name === name).length);
    expect(Math.max(...perNode) - Math.min(...perNode)).toBeLessThanOrEqual(1);
    expect(Math.min(...perNode)).toBeGreaterThan(1);
  });
});

describe('while any node is unhealthy', () => {
  it('no check of a healthy node is begun', () => {
    const calm = { storm: false, incident: false, withoutQuorum: false };
    expect(isCalm(calm)).toBe(true);
    for (const what of ['storm', 'incident', 'withoutQuorum'] as const)
      expect(isCalm({ ...calm, [what]: true })).toBe(false);
  });
});

describe('of a node in service', () => {
  const up = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
  const serving = (o: Partial<NodeRecord> = {}): NodeRecord => aNode('a-1', { status: 'Allocated', verdict: up, ...o });
  const out = (...codes: OutReason['code'][]): { code: OutReason['code'] }[] => codes.map((code) => ({ code }));
  const hold = (o: Partial<Hold>): Hold => ({ generation: 1, at: 1, ...o });

  it('a check may begin also where a scheduler holds it', () => {
    expect(mayBeChecked(serving(), [])).toBe(true);
    expect(mayBeChecked(serving(), out('RESERVED'), hold({ claim: 'c' }))).toBe(true);
  });
  it.each([
    ['a job', out('RESERVED'), hold({ job: 'j' })],
    ['a check', [], hold({ job: 'j', kind: 'check' })],
    ['a job beside a claim', out('RESERVED'), hold({ job: 'j', claim: 'c' })],
    ['an edit', out('RESERVED'), hold({ edit: 'e' })],
    ['a cordon', out('CORDONED'), undefined],
    ['its maintenance', out('MAINTENANCE'), undefined],
    ['its incident', out('INCIDENT'), undefined],
    ['its return', out('PENDING_RETURN'), undefined],
    ['its status', out('STATUS'), undefined],
    ['a detector that is not heard', out('VIEW_STALE', 'RESERVED'), undefined],
  ] as const)('none begins under %s', (_what, reasons, held) => {
    expect(mayBeChecked(serving(), reasons, held)).toBe(false);
  });
  it('none begins, and none goes on, where ssh has no way to it', () => {
    const cut = serving({ verdict: { ...up, verdict: 'DEGRADED', networks: ['management'] } });
    expect(mayBeChecked(cut, [])).toBe(false);
    expect(servesOn(cut, [])).toBe(false);
  });
  it('one goes on that holds it itself, and is called off when the node is out of service for anything else', () => {
    expect(servesOn(serving(), out('RESERVED'))).toBe(true);
    for (const code of ['INCIDENT', 'VIEW_STALE', 'PENDING_RETURN', 'CORDONED'] as const)
      expect(servesOn(serving(), out(code))).toBe(false);
  });
});

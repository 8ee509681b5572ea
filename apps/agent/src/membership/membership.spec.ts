import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { allSwitchedOn, Membership, membershipNumbers as n, type RejoinSwitches } from './membership.js';
import { RejoinDiary } from './rejoin-diary.js';

/** Who is asked to rejoin at this instant. */
const next = (m: Membership, now: number): string[] => m.next(now).map((g) => g.peer);

const diary = (): RejoinDiary => new RejoinDiary({ wallMs: () => 77 });
const half = (): number => 0.5;
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`);

/** Runs in steps of 100 ms and returns who was asked to rejoin when. */
const run = (m: Membership, from: number, to: number): { at: number; peer: string }[] => {
  const asked: { at: number; peer: string }[] = [];
  for (let now = from; now <= to; now += 100) for (const { peer } of m.next(now)) asked.push({ at: now, peer });
  return asked;
};

describe('membership', () => {
  it('never asks a member to rejoin', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(5), 0);
    m.trigger(10, 'nats');
    m.attemptSoon('p1');
    expect(run(m, 0, 200_000)).toEqual([]);
  });

  it('asks a lost peer to rejoin twice a minute at least, until it is welcome', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(3), 0);
    m.lose('p1', 1000);
    const asked = run(m, 1000, 121_000);
    expect(asked.length).toBeGreaterThanOrEqual(4);
    expect(asked.every((g) => g.peer === 'p1')).toBe(true);
    expect(m.welcome('p1')).toBe(true);
    expect(m.welcome('p1')).toBe(false);
    expect(run(m, 121_100, 300_000)).toEqual([]);
  });

  it('asks at once on a trigger, and makes one more run of the triggers during a run', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(3), 0);
    m.lose('p1', 0);
    m.trigger(100, 'nats');
    expect(next(m, 100)).toEqual(['p1']);
    for (let i = 0; i < 10; i++) m.trigger(200, 'nats');
    expect(next(m, 200)).toEqual([]);
    const after = run(m, 300, 20_000);
    expect(after).toEqual([{ at: 2100, peer: 'p1' }]);
  });

  it('asks eight at once, and the next as one is welcome or gives no answer for 2 s', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(21), 0);
    for (const peer of names(20)) m.lose(peer, 0);
    m.trigger(0, 'nats');
    expect(next(m, 0)).toEqual(names(8));
    expect(next(m, 20)).toEqual([]);
    m.welcome('p0');
    m.welcome('p1');
    expect(next(m, 40)).toEqual(['p8', 'p9']);
    expect(next(m, 1_999)).toEqual([]);
    expect(next(m, 2_000)).toHaveLength(6);
    expect(next(m, 2_040)).toHaveLength(2);
    expect(run(m, 2_100, 8_000)).toHaveLength(2);
  });

  it('is back within seconds when everyone is lost', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(2), 0);
    m.lose('p0', 0);
    m.lose('p1', 0);
    expect(m.isolated()).toBe(true);
    const asked = run(m, 0, 30_000).filter((g) => g.peer === 'p0');
    expect(asked.length).toBeGreaterThanOrEqual(5);
  });

  it('asks a lost peer that was heard without waiting for a run', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(3), 0);
    m.lose('p2', 0);
    expect(next(m, 0)).toEqual([]);
    m.attemptSoon('p2');
    expect(next(m, 20)).toEqual(['p2']);
  });

  it('runs every minute, ten per cent more or less, and every 5 s while isolated', () => {
    for (const [random, factor] of [
      [0, 0.9],
      [0.5, 1],
      [0.999, 1.1],
    ] as const) {
      const m = new Membership({ ...n, lostProbe: 1e9 }, () => random, 0, diary());
      m.setPeers(names(3), 0);
      m.next(0);
      m.lose('p0', 1);
      const runs = run(m, 0, 130_000).map((g) => g.at);
      expect(runs).toHaveLength(factor > 1 ? 1 : 2);
      expect(Math.abs(runs[0]! - 60_000 * factor)).toBeLessThanOrEqual(200);
      m.lose('p1', 130_100);
      m.lose('p2', 130_100);
      const alone = run(m, 130_200, 141_500).filter((g) => g.peer === 'p0');
      expect(alone[0]!.at).toBeLessThanOrEqual(130_100 + 5_000 * factor + 200);
      expect(Math.abs(alone[1]!.at - alone[0]!.at - 5_000 * factor)).toBeLessThanOrEqual(200);
    }
  });

  describe('with a part switched off', () => {
    /** One peer of three is lost at 1 s, the peer list changes at 10 s, the peer is heard at 20 s; nobody answers. */
    const attemptedBy = (over: Partial<RejoinSwitches>): Record<string, number[]> => {
      const m = new Membership(n, half, 0, diary(), { ...allSwitchedOn, ...over });
      m.setPeers(names(3), 0);
      const seen: Record<string, number[]> = {};
      for (let now = 100; now <= 130_000; now += 100) {
        if (now === 1_000) m.lose('p1', now);
        if (now === 10_000) m.trigger(now, 'peer-list');
        if (now === 20_000) m.attemptSoon('p1');
        for (const { why } of m.next(now)) (seen[why] ??= []).push(now);
      }
      return seen;
    };

    it.each<[Partial<RejoinSwitches>, Record<string, number[]>]>([
      [{}, { 'peer-list': [10_000], heard: [20_000], 'low-rate': [50_000, 100_000], timer: [70_000, 130_000] }],
      [{ loop: false }, { 'low-rate': [31_000, 61_000, 91_000, 121_000] }],
      [{ timer: false }, { 'peer-list': [10_000], heard: [20_000], 'low-rate': [50_000, 80_000, 110_000] }],
      [{ triggers: false }, { 'low-rate': [31_000, 90_000], timer: [60_000, 120_000] }],
      [{ lowRate: false }, { 'peer-list': [10_000], heard: [20_000], timer: [70_000, 130_000] }],
      [{ loop: false, lowRate: false }, {}],
    ])('%j asks only for the other reasons', (over, expected) => {
      expect(attemptedBy(over)).toEqual(expected);
    });
  });

  it('keeps a diary of the last fifty, and counts all', () => {
    const kept = diary();
    const m = new Membership(n, half, 0, kept);
    m.setPeers(names(3), 0);
    m.lose('p1', 100);
    m.trigger(200, 'nats');
    m.next(200);
    m.welcome('p1');
    expect(kept.happenings()).toEqual([
      { at: 77, peer: 'p1', what: 'lost', why: 'silent' },
      { at: 77, peer: 'p1', what: 'greeted', why: 'nats' },
      { at: 77, peer: 'p1', what: 'joined', why: 'nats' },
    ]);
    expect(kept.counts(0)).toEqual({ runs: { 'peer-list': 1, nats: 1 }, lost: 1, greeted: 1, joined: 1, lostNow: 0 });
    for (let i = 0; i < 60; i++) kept.note(`q${i}`, 'greeted', 'timer');
    expect(kept.happenings()).toHaveLength(50);
    expect(kept.happenings().at(-1)?.peer).toBe('q59');
    expect(kept.counts(0).greeted).toBe(61);
  });

  it('forgets who left the list', () => {
    const m = new Membership(n, half, 0, diary());
    m.setPeers(names(3), 0);
    m.lose('p2', 0);
    m.setPeers(names(2), 10);
    expect(m.lostPeers()).toEqual([]);
    expect(run(m, 10, 100_000)).toEqual([]);
  });

  it('has at most eight attempts in flight, and reaches every lost peer in each run, whatever happens', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('lose' as const), i: fc.integer({ min: 0, max: 39 }) }),
      fc.record({ kind: fc.constant('welcome' as const), i: fc.integer({ min: 0, max: 39 }) }),
      fc.record({ kind: fc.constant('heard' as const), i: fc.integer({ min: 0, max: 39 }) }),
      fc.record({ kind: fc.constant('trigger' as const) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120 }), fc.integer(), (events, seed) => {
        let s = seed;
        const random = (): number => (s = (s * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
        const m = new Membership(n, random, 0, diary());
        m.setPeers(names(40), 0);
        let now = 0;
        const inFlight = new Map<string, number>();
        const step = (): void => {
          for (const [peer, until] of inFlight) if (until <= now) inFlight.delete(peer);
          for (const { peer } of m.next(now)) {
            expect(m.isLost(peer)).toBe(true);
            expect(inFlight.has(peer)).toBe(false);
            inFlight.set(peer, now + n.limit);
          }
          expect(inFlight.size).toBeLessThanOrEqual(n.parallel);
        };
        for (const e of events) {
          if (e.kind === 'lose') m.lose(`p${e.i}`, now);
          if (e.kind === 'heard') m.attemptSoon(`p${e.i}`);
          if (e.kind === 'trigger') m.trigger(now, 'nats');
          if (e.kind === 'wait') now += e.ms;
          if (e.kind === 'welcome') {
            m.welcome(`p${e.i}`);
            inFlight.delete(`p${e.i}`);
          }
          step();
        }
        const lost = new Set(m.lostPeers());
        for (const end = now + 66_000 + 15_000; now < end && lost.size > 0; now += 100) {
          for (const [peer, until] of inFlight) if (until <= now) inFlight.delete(peer);
          for (const { peer } of m.next(now)) lost.delete(peer);
        }
        expect([...lost]).toEqual([]);
      }),
    );
  });
});

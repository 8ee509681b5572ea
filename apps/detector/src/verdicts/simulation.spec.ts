import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DetectionProfiles, type DetectionSettings } from '#contracts';
import { SimulatedFleet, type World } from '../testing/simulated-fleet.js';

const names = (n: number): string[] => Array.from({ length: n }, (_, i) => `n${i}`);
const seeded = (seed: number): (() => number) => {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};
const healthy: World = {
  alive: () => true,
  running: () => true,
  linked: () => true,
  monitored: () => true,
  lost: () => false,
};
const world = (over: Partial<World>): World => ({ ...healthy, ...over });
const downs = (f: SimulatedFleet): string[] => f.verdicts.filter((v) => v.verdict === 'DOWN').map((v) => v.node);
const x = (n: DetectionSettings): number => n.interval * n.misses;
const profiles: DetectionSettings['profile'][] = ['lan', 'fast', 'wan'];

/** Reachable from each other: same side of the split. */
const split = (at: number, left: readonly string[]): Partial<World> => ({
  linked: (a, b, _n, t) => t < at || left.includes(a) === left.includes(b),
});

describe('a fleet in virtual time', () => {
  it('calls a dead node DOWN within x + 1 s of its death, and no other, at any size and any phase', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 10 }),
        fc.integer(),
        fc.integer({ min: 6000, max: 8000 }),
        (count, seed, death) => {
          const f = new SimulatedFleet(names(count), world({ alive: (n, t) => n !== 'n0' || t < death }), seeded(seed));
          f.run(death + x(f.n) + 1000);
          expect(f.verdictOf('n0')).toBe('DOWN');
          expect(new Set(downs(f))).toEqual(new Set(['n0']));
          expect(f.verdicts.find((v) => v.verdict === 'DOWN')!.at).toBeGreaterThanOrEqual(death + f.n.freshness);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('never calls a node DOWN while most observers reach it, nor while it is itself blind, whatever else fails', () => {
    const fault = fc.record({
      kind: fc.constantFrom(
        'death' as const,
        'pause' as const,
        'link' as const,
        'network' as const,
        'unmonitored' as const,
      ),
      a: fc.integer({ min: 0, max: 5 }),
      b: fc.integer({ min: 0, max: 5 }),
      network: fc.constantFrom('management', 'backend', 'both'),
      from: fc.integer({ min: 3000, max: 12_000 }),
      lasts: fc.integer({ min: 100, max: 12_000 }),
    });
    let seen = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 6 }),
        fc.integer(),
        fc.array(fault, { maxLength: 8 }),
        fc.constantFrom(0, 0.01, 0.05, 0.2),
        fc.boolean(),
        (count, seed, faults, loss, witness) => {
          const random = seeded(seed);
          const on = (t: number, f: (typeof faults)[number]): boolean => t >= f.from && t < f.from + f.lasts;
          const is = (i: number, n: string): boolean => `n${i % count}` === n;
          const of = (kind: (typeof faults)[number]['kind'], t: number): typeof faults =>
            faults.filter((f) => f.kind === kind && on(t, f));
          const w: World = {
            alive: (n, t) => !faults.some((f) => f.kind === 'death' && is(f.a, n) && t >= f.from),
            running: (n, t) => !of('pause', t).some((f) => is(f.a, n)),
            linked: (a, b, net, t) =>
              !of('link', t).some(
                (f) =>
                  (f.network === 'both' || f.network === net) &&
                  ((is(f.a, a) && is(f.b, b)) || (is(f.a, b) && is(f.b, a))),
              ) &&
              !of('network', t).some((f) => (f.network === 'both' || f.network === net) && (is(f.a, a) || is(f.a, b))),
            monitored: (n, t) => !of('unmonitored', t).some((f) => is(f.a, n)),
            lost: () => random() < loss,
          };
          const f = new SimulatedFleet(names(count), w, random);
          f.witness = witness;
          // Since when most observers have reached the node without a break.
          const reachedSince = new Map<string, number>();
          const before = new Map<string, string>();
          f.run(26_000, (t) => {
            const reporters = f.names.filter((n) => f.reportsNow(n)).length;
            for (const node of f.names) {
              const observers = f.names.filter((o) => o !== node);
              const most = observers.filter((o) => f.reaches(o, node)).length > observers.length / 2;
              if (!most) reachedSince.delete(node);
              else if (!reachedSince.has(node)) reachedSince.set(node, t);
              const now = f.verdictOf(node);
              if (now === 'DOWN' && before.get(node) !== 'DOWN') {
                seen++;
                // Reached for longer than the whole evidence could be old.
                expect(t - (reachedSince.get(node) ?? t)).toBeLessThanOrEqual(x(f.n) + f.n.reportPeriod);
                expect(f.ownReportIsFresh(node)).toBe(false);
              }
              // Also when it is held: never without enough others that report.
              if (now === 'DOWN') expect(reporters).toBeGreaterThanOrEqual(count === 2 ? 1 : Math.floor(count / 2) + 1);
              before.set(node, now);
            }
          });
        },
      ),
      { numRuns: 150 },
    );
    // A property that never met a DOWN would say nothing.
    expect(seen).toBeGreaterThan(10);
  }, 120_000);

  it.each(profiles)('fences nobody in a split 2+2, 3+3, or 3+2 seen from the small side (%s)', (profile) => {
    const long = 10 * x(DetectionProfiles[profile]);
    for (const seed of [1, 2, 3]) {
      for (const [count, left] of [
        [4, ['n0', 'n1']],
        [6, ['n0', 'n1', 'n2']],
      ] as const) {
        const f = new SimulatedFleet(names(count), world(split(8000, left)), seeded(seed), profile);
        f.run(8000 + long);
        expect(downs(f)).toEqual([]);
      }
      const small = ['n0', 'n1'];
      const cut = world({ ...split(8000, small), monitored: (n, t) => t < 8000 || small.includes(n) });
      const f = new SimulatedFleet(names(5), cut, seeded(seed), profile);
      f.run(8000 + long);
      expect(downs(f)).toEqual([]);
      expect(f.names.map((n) => f.verdictOf(n))).toEqual(['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN']);
    }
  });

  it('does not tell two dead of four from a split, and calls both dead of five', () => {
    const dead = world({ alive: (n, t) => !['n0', 'n1'].includes(n) || t < 8000 });
    const four = new SimulatedFleet(names(4), dead, seeded(1));
    four.run(30_000);
    expect(downs(four)).toEqual([]);
    const five = new SimulatedFleet(names(5), dead, seeded(1));
    five.run(14_000);
    expect(new Set(downs(five))).toEqual(new Set(['n0', 'n1']));
  });

  it('calls a host that was paused for 2 s UP, and one whose both networks are cut DOWN', () => {
    const paused = world({ running: (n, t) => n !== 'n0' || t < 8000 || t >= 10_000 });
    const f = new SimulatedFleet(names(4), paused, seeded(5));
    f.run(20_000);
    expect(downs(f)).toEqual([]);
    expect(f.verdictOf('n0')).toBe('UP');
    const cut = world({
      linked: (a, b, _n, t) => t < 8000 || (a !== 'n0' && b !== 'n0'),
      monitored: (n, t) => n !== 'n0' || t < 8000,
    });
    const g = new SimulatedFleet(names(4), cut, seeded(5));
    g.run(14_000);
    expect(g.verdictOf('n0')).toBe('DOWN');
  });

  it('calls nobody DOWN when all agents are paused at once for 20 s', () => {
    const f = new SimulatedFleet(names(5), world({ running: (_n, t) => t < 8000 || t >= 28_000 }), seeded(7));
    f.run(45_000);
    expect(downs(f)).toEqual([]);
    expect(f.names.map((n) => f.verdictOf(n))).toEqual(f.names.map(() => 'UP'));
  });

  it.each(['management', 'backend'])(
    'names the one silent network of a node (%s), and clears it by itself',
    (network) => {
      const cut = world({
        linked: (a, b, net, t) => net !== network || (a !== 'n0' && b !== 'n0') || t < 8000 || t >= 18_000,
      });
      const f = new SimulatedFleet(names(4), cut, seeded(9));
      f.run(17_000);
      expect(f.log.judgementOf('n0')).toMatchObject({ verdict: 'DEGRADED', networks: [network] });
      f.run(22_000);
      expect(f.verdictOf('n0')).toBe('UP');
      expect(new Set(f.verdicts.filter((v) => v.at > 5000).map((v) => v.node))).toEqual(new Set(['n0']));
    },
  );

  it('calls every node DEGRADED when a switch dies, and none DOWN', () => {
    const f = new SimulatedFleet(
      names(5),
      world({ linked: (_a, _b, net, t) => net !== 'backend' || t < 8000 }),
      seeded(11),
    );
    f.run(16_000);
    expect(f.names.map((n) => f.verdictOf(n))).toEqual(f.names.map(() => 'DEGRADED'));
    expect(downs(f)).toEqual([]);
  });

  it('calls both ends of a cut link UP, and a node that 40 % of its observers miss', () => {
    const link = world({ linked: (a, b, _n, t) => t < 8000 || ![a, b].every((n) => ['n0', 'n1'].includes(n)) });
    const f = new SimulatedFleet(names(5), link, seeded(13));
    f.run(20_000);
    expect(f.verdicts.filter((v) => v.at > 5000)).toEqual([]);
    const missed = world({
      linked: (a, b, _n, t) => t < 8000 || !([a, b].includes('n0') && [a, b].some((n) => ['n1', 'n2'].includes(n))),
    });
    const g = new SimulatedFleet(names(6), missed, seeded(13));
    g.run(20_000);
    expect(g.verdictOf('n0')).toBe('UP');
  });

  it.each([0.01, 0.05, 0.2])('calls nobody DOWN at a loss of %d everywhere for ten minutes', (loss) => {
    const random = seeded(17);
    const f = new SimulatedFleet(names(5), world({ lost: () => random() < loss }), random);
    f.run(600_000);
    expect(downs(f)).toEqual([]);
  });

  it('finds again, after its own restart, who died before', () => {
    const f = new SimulatedFleet(names(5), world({ alive: (n, t) => n !== 'n2' || t < 500 }), seeded(19));
    f.run(8_000);
    expect(f.verdictOf('n2')).toBe('DOWN');
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { DetectionProfiles, silenceTimeout, SMALL_FLEET, type DetectionSettings } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { simulateDetection } from '../../../../sim/src/detect.js';
import { aHistory, type History } from '../../../../sim/src/history.js';
import { SimulatedFleet } from '../../../../sim/src/simulated-fleet.js';
import { quickWire } from '../../../../sim/src/wire.js';
import { MONITOR, type Fault } from '../../../../sim/src/world.js';

/** Histories of large fleets: each takes as long as twenty of small ones. */
const LARGE = 8;
const BOTH = ['backend', 'management'];
const profiles: DetectionSettings['profile'][] = ['lan', 'fast', 'wan'];
const all = (nodes: number): number[] => Array.from({ length: nodes }, (_, i) => i);

const death = (node: number, from: number, until = Infinity): Fault => ({ kind: 'death', node, from, until });
const pause = (node: number, from: number, until: number, host = false): Fault => ({
  kind: 'pause',
  node,
  from,
  until,
  host,
});
const cut = (a: number[], b: number[], from: number, until = Infinity, networks = BOTH): Fault => ({
  kind: 'cut',
  a,
  b,
  networks,
  from,
  until,
  oneWay: false,
});

/** The oracle judges every one of these histories, too. */
function after(nodes: number, seed: number, until: number, faults: Fault[], o: Partial<History> = {}): SimulatedFleet {
  const f = new SimulatedFleet(aHistory(nodes, seed, { faults, ...o })).run(until);
  expect(f.violations).toEqual([]);
  return f;
}
const downs = (f: SimulatedFleet): string[] => f.verdicts.filter((v) => v.verdict === 'DOWN').map((v) => v.node);
const verdicts = (f: SimulatedFleet): string[] => f.names.map((n) => f.verdictOf(n));

describe('a fleet in virtual time', () => {
  it('never breaks a rule in random histories of loss, cuts, pauses, restarts, deaths and takeovers', () => {
    const { violations, coverage } = simulateDetection({ histories: runs(150), seed: SEED });
    expect(violations).toEqual([]);
    // A property that never met its case would say nothing.
    for (const share of Object.values(coverage)) expect(share).toBeGreaterThanOrEqual(0.01);
  });

  it('never breaks a rule either where not everybody watches everybody, and polls decide', () => {
    const sizes = { least: SMALL_FLEET + 1, most: 40 };
    const histories = runs(LARGE);
    const { violations, pollDecisions } = simulateDetection({ histories, seed: SEED, sizes });
    expect(violations).toEqual([]);
    expect(pollDecisions).toBeGreaterThanOrEqual(histories / 4);
  });

  it('calls a dead node DOWN within the silence timeout and 1 s of its death, and no other, at any size and any phase', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 10 }),
        fc.integer(),
        fc.integer({ min: 6000, max: 8000 }),
        (count, seed, at) => {
          const f = after(count, seed, at + silenceTimeout(DetectionProfiles.lan) + 1000, [death(0, at)]);
          expect(f.verdictOf('n0')).toBe('DOWN');
          expect(new Set(downs(f))).toEqual(new Set(['n0']));
          expect(f.verdicts.find((v) => v.verdict === 'DOWN')!.at).toBeGreaterThanOrEqual(at + f.n.freshness);
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it.each(profiles)('fences nobody in a split 2+2, 3+3, or 3+2 seen from the small side (%s)', (profile) => {
    const long = 8000 + 10 * silenceTimeout(DetectionProfiles[profile]);
    for (const seed of [1, 2]) {
      expect(downs(after(4, seed, long, [cut([0, 1], [2, 3], 8000)], { profile }))).toEqual([]);
      expect(downs(after(6, seed, long, [cut([0, 1, 2], [3, 4, 5], 8000)], { profile }))).toEqual([]);
      const f = after(5, seed, long, [cut([0, 1, MONITOR], [2, 3, 4], 8000)], { profile });
      expect(downs(f)).toEqual([]);
      expect(verdicts(f)).toEqual(all(5).map(() => 'UNKNOWN'));
    }
  });

  it('reports nobody down before the silence timeout where the numbers became shorter just now and answers take nearly as long as they may', () => {
    const wire = { ...quickWire, loss: 0.3, delay: 150 };
    for (const at of [5200, 5600])
      for (let seed = 1; seed <= 50; seed++)
        after(3, seed, at + 2500, [{ kind: 'numbers', from: 4600, until: Infinity, profile: 'fast' }, death(0, at)], {
          wire,
        });
  });

  it('judges as if numbers had never been set that were replaced before it looked', () => {
    const numbers = (from: number, profile: DetectionSettings['profile']): Fault => {
      return { kind: 'numbers', from, until: Infinity, profile };
    };
    for (let seed = 1; seed <= 8; seed++)
      for (const then of ['fast', 'lan'] as const)
        expect(downs(after(3, seed, 11_000, [death(0, 5000), numbers(5050, 'wan'), numbers(5110, then)]))).toContain(
          'n0',
        );
  });

  it('counts silence from when reports came again, where other numbers had made it sighted before', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const faults: Fault[] = [
        { kind: 'bus', from: 2100, until: 3800 },
        { kind: 'numbers', from: 3150, until: Infinity, profile: 'lan' },
        death(0, 2700),
      ];
      expect(downs(after(3, seed, 9000, faults, { profile: 'fast' }))).toContain('n0');
    }
  });

  it('does not tell two dead of four from a split, and calls both dead of five', () => {
    const both = [death(0, 8000), death(1, 8000)];
    expect(downs(after(4, 1, 30_000, both))).toEqual([]);
    expect(new Set(downs(after(5, 1, 14_000, both)))).toEqual(new Set(['n0', 'n1']));
  });

  it('calls the other of two members DOWN only where its witness answers', () => {
    expect(after(2, 1, 14_000, [death(0, 8000)], { witness: true }).verdictOf('n0')).toBe('DOWN');
    expect(after(2, 1, 14_000, [death(0, 8000)], { witness: false }).verdictOf('n0')).toBe('SUSPECT');
  });

  it('calls a host that was paused for 2 s UP, and one whose both networks are cut DOWN', () => {
    const f = after(4, 5, 20_000, [pause(0, 8000, 10_000, true)]);
    expect(downs(f)).toEqual([]);
    expect(f.verdictOf('n0')).toBe('UP');
    expect(after(4, 5, 14_000, [cut([0], [1, 2, 3, MONITOR], 8000)]).verdictOf('n0')).toBe('DOWN');
  });

  it.each([400, 2000, 20_000])('calls nobody DOWN because the others stood still for %d ms', (ms) => {
    const others = all(5).slice(1);
    const f = after(5, 7, 9000 + ms, [
      ...others.map((n) => pause(n, 8000, 8000 + ms)),
      pause(0, 8000, 8000 + ms, true),
    ]);
    expect(downs(f)).toEqual([]);
    f.run(12_000 + ms);
    expect(downs(f)).toEqual([]);
    expect(verdicts(f)).toEqual(all(5).map(() => 'UP'));
  });

  it('calls a node that is long dead DOWN again after all others have stood still', () => {
    const f = after(4, 1, 30_000, [death(0, 5000), ...[1, 2, 3].map((n) => pause(n, 20_000, 25_000))]);
    expect(f.verdicts.filter((v) => v.node === 'n0' && v.at > 25_000).map((v) => v.verdict)).toContain('DOWN');
    expect(f.verdictOf('n0')).toBe('DOWN');
  });

  it('counts nobody as a reporter by what it said before the monitor stood still', () => {
    const stopped: Fault = { kind: 'monitor-pause', from: 10_000, until: 14_000 };
    const f = after(4, 1, 20_000, [death(0, 8000), stopped, death(3, 10_500)]);
    expect(downs(f)).toEqual([]);
  });

  it('nor a process that had just begun to speak then, of which nothing tells how late its word came', () => {
    const stopped: Fault = { kind: 'monitor-pause', from: 10_000, until: 14_000 };
    const began: Fault = { kind: 'restart', node: 3, from: 9990, until: 10_040 };
    // What the monitor reads first may be a report, or a question.
    for (const seed of [1, 2, 3, 4])
      expect(downs(after(4, seed, 20_000, [death(0, 8000), stopped, began, death(3, 10_500)]))).toEqual([]);
  });

  it.each(['same', 'other'] as const)(
    'counts nobody as silent for the time in which a split fleet had no leader, whoever leads then (the %s)',
    (successor) => {
      const side = (node: number, until: number): Fault => cut([0, 1, 2, MONITOR], [node], 20_000, until);
      const nobody: Fault = { kind: 'takeover', from: 20_100, until: 29_100, successor };
      const f = after(6, 1, 33_000, [side(5, 29_000), side(4, 31_300), side(3, 35_000), nobody]);
      expect(downs(f)).toEqual(['n3']);
    },
  );

  it.each(BOTH)('names the one silent network of a node (%s), and clears it by itself', (network) => {
    const f = after(4, 9, 17_000, [cut([0], [1, 2, 3], 8000, 18_000, [network])]);
    expect(f.judgementOf('n0')).toMatchObject({ verdict: 'DEGRADED', networks: [network] });
    f.run(22_000);
    expect(f.verdictOf('n0')).toBe('UP');
    expect(new Set(f.verdicts.filter((v) => v.at > 5000).map((v) => v.node))).toEqual(new Set(['n0']));
  });

  it('calls every node DEGRADED when a switch dies, and none DOWN', () => {
    const f = after(
      5,
      11,
      16_000,
      all(5).map((n) => cut([n], [...all(5).filter((m) => m !== n), MONITOR], 8000, Infinity, ['backend'])),
    );
    expect(verdicts(f)).toEqual(all(5).map(() => 'DEGRADED'));
    expect(downs(f)).toEqual([]);
  });

  it('calls both ends of a cut link UP, and a node that 40 % of its observers miss', () => {
    const f = after(5, 13, 20_000, [cut([0], [1], 8000)]);
    expect(f.verdicts.filter((v) => v.at > 5000)).toEqual([]);
    expect(after(6, 13, 20_000, [cut([0], [1, 2], 8000)]).verdictOf('n0')).toBe('UP');
  });

  it.each([0.01, 0.05, 0.2])('calls nobody DOWN at a loss of %d everywhere for ten minutes', (loss) => {
    // Of the round trip, as half of it each way.
    const f = after(5, 17, 600_000, [], { wire: { ...quickWire, loss: 1 - Math.sqrt(1 - loss) } });
    expect(downs(f)).toEqual([]);
  });

  it('finds again, after its own restart, who died before', () => {
    const restart: Fault = { kind: 'takeover', successor: 'new', from: 12_000, until: 13_000 };
    const f = after(5, 19, 18_000, [death(2, 8000), restart]);
    expect(f.verdicts.filter((v) => v.node === 'n2' && v.verdict === 'DOWN').map((v) => v.at > 13_000)).toEqual([
      false,
      true,
    ]);
  });

  it('asks everybody in a fleet where not everybody watches everybody, and then calls a dead node DOWN', () => {
    const f = after(40, 23, 13_000, [death(5, 8000)]);
    expect(f.verdicts.filter((v) => v.verdict === 'DOWN').map((v) => v.node)).toEqual(['n5']);
    const reached = [...all(40).filter((n) => n % 2 === 0)];
    const half = after(40, 23, 16_000, [
      cut(
        [5],
        all(40).filter((n) => n !== 5 && !reached.includes(n)),
        8000,
      ),
    ]);
    expect(downs(half)).toEqual([]);
  });
});

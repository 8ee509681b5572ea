import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs } from '#contracts/testing/chance.js';
import { aHistory, type History } from '../../../../sim/src/history.js';
import { SimulatedFleet } from '../../../../sim/src/simulated-fleet.js';
import { MONITOR, type Fault } from '../../../../sim/src/world.js';

const BOTH = ['backend', 'management'];
const all = (nodes: number): number[] => Array.from({ length: nodes }, (_, i) => i);
const death = (node: number, from: number): Fault => ({ kind: 'death', node, from, until: Infinity });
const unsent = (node: number, to: number[], from: number, networks: string[], until = Infinity): Fault => ({
  kind: 'unsent',
  node,
  to,
  networks,
  from,
  until,
});
/** Nothing leaves these on the backend any more, one after the other within a second. */
const backendOff = (nodes: number[], fleet: number, from: number, until = Infinity): Fault[] =>
  nodes.map((n, i) => unsent(n, [...all(fleet), MONITOR], from + (1000 * i) / nodes.length, ['backend'], until));

/** The oracle judges every one of these histories, too. */
function after(nodes: number, seed: number, until: number, faults: Fault[], o: Partial<History> = {}): SimulatedFleet {
  const f = new SimulatedFleet(aHistory(nodes, seed, { faults, ...o })).run(until);
  expect(f.violations).toEqual([]);
  return f;
}
const downs = (f: SimulatedFleet): string[] => f.verdicts.filter((v) => v.verdict === 'DOWN').map((v) => v.node);

describe('where sends fail', () => {
  it('a dead node that nobody can send to any more is neither heard nor DOWN, and the reason says why', () => {
    const routes = (networks: string[]): Fault[] =>
      all(5)
        .slice(1)
        .map((n) => unsent(n, [0], 8000, networks));
    const f = after(5, 3, 30_000, [death(0, 8000), ...routes(BOTH)]);
    expect(f.judgementOf('n0')).toMatchObject({
      verdict: 'UNKNOWN',
      reason: expect.stringContaining('4 of 4 observers cannot send to it on backend'),
    });
    expect(downs(f)).toEqual([]);
    // On one network only: silent on the other, it is not heard there for ever.
    expect(after(5, 3, 30_000, [death(0, 8000), ...routes(['backend'])]).verdictOf('n0')).toBe('UNKNOWN');
  });

  it('one whose routes go after it was suspected stays SUSPECT, and the reason is that of now', () => {
    const routes = all(5)
      .slice(1)
      .map((n) => unsent(n, [0], 10_000, BOTH));
    expect(after(5, 3, 30_000, [death(0, 8000), ...routes]).judgementOf('n0')).toMatchObject({
      verdict: 'SUSPECT',
      reason: expect.stringMatching(/too few still say .*4 of 4 observers cannot send to it on backend/),
    });
  });

  it('one that was heard last on the network that is out is DOWN by the other one, once it is out for x', () => {
    const cut = (from: number, networks: string[]): Fault => ({
      ...{ kind: 'cut', a: [0], b: [1, 2, MONITOR], networks },
      ...{ from, until: Infinity, oneWay: false },
    });
    const routes = [1, 2].map((n) => unsent(n, [0, 1, 2, MONITOR], 4900, ['management']));
    // So that no later report of it tells of a longer silence.
    const standsStill: Fault = { kind: 'pause', node: 2, from: 6250, until: Infinity, host: true };
    const faults = [cut(4300, ['backend']), cut(4750, BOTH), ...routes, standsStill];
    for (const seed of [1, 2, 4, 5]) {
      const f = after(3, seed, 9000, faults, { profile: 'fast', witness: true });
      expect(downs(f)).toEqual(['n0']);
    }
  });

  it.each([4, 5])(
    'of %i nodes a living one is not DOWN where one hears it on the network that the others lost',
    (nodes) => {
      const muteOnes = all(nodes).slice(1, -1);
      const lasts = { from: 8000, until: Infinity };
      const alone = (b: number[], networks: string[]): Fault => ({
        kind: 'cut',
        ...lasts,
        a: [0],
        b,
        networks,
        oneWay: false,
      });
      const faults = [
        ...backendOff(muteOnes, nodes, 8000),
        alone(all(nodes).slice(1), ['management']),
        alone([MONITOR], BOTH),
      ];
      const f = after(nodes, 9, 30_000, faults);
      expect(downs(f)).toEqual([]);
    },
  );

  it('one that was heard there a moment ago is not DOWN by its silence on the other network before the silence timeout is over', () => {
    const others = all(5).slice(1);
    const [from, networks] = [4000, ['backend']];
    const cut: Fault = { kind: 'cut', from, until: Infinity, a: [0], b: [...others, MONITOR], networks, oneWay: false };
    const off = others.map((n) => unsent(n, [...all(5), MONITOR], 8000, ['management']));
    const f = after(5, 4, 30_000, [cut, ...off, death(0, 8000)]);
    expect(downs(f)).toEqual(['n0']);
  });

  it('one observer that cannot send to a dead node says nothing of it, and the others are enough', () => {
    fc.assert(
      fc.property(fc.integer(), fc.subarray(BOTH, { minLength: 1 }), (seed, networks) => {
        const f = after(5, seed, 13_000, [death(0, 8000), unsent(1, [0], 8000, networks)]);
        expect(f.verdictOf('n0')).toBe('DOWN');
        expect(downs(f)).toEqual(['n0']);
      }),
      { numRuns: runs(10) },
    );
  });

  it('a network on which nobody can send makes all DEGRADED and nobody DOWN, and a death by the other one is seen', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 6 }), fc.integer(), (nodes, seed) => {
        const off = backendOff(all(nodes), nodes, 8000, 40_000);
        const f = after(nodes, seed, 20_000, off);
        expect(f.names.map((n) => f.judgementOf(n))).toEqual(
          f.names.map(() => expect.objectContaining({ verdict: 'DEGRADED', networks: ['backend'] })),
        );
        const dying = after(nodes, seed, 26_000, [...off, death(0, 20_000)]);
        expect(dying.verdictOf('n0')).toBe('DOWN');
        expect(downs(dying)).toEqual(['n0']);
        f.run(48_000);
        expect(f.names.map((n) => f.verdictOf(n))).toEqual(f.names.map(() => 'UP'));
        expect(downs(f)).toEqual([]);
      }),
      { numRuns: runs(10) },
    );
  });

  it('one node on whose backend nothing leaves is DEGRADED there, alone, and deaths are seen as before', () => {
    const f = after(5, 5, 20_000, backendOff([1], 5, 8000));
    expect(f.names.map((n) => f.verdictOf(n))).toEqual(['UP', 'DEGRADED', 'UP', 'UP', 'UP']);
    const dying = after(5, 5, 26_000, [...backendOff([1], 5, 8000), death(0, 20_000)]);
    expect(downs(dying)).toEqual(['n0']);
  });

  it('half of the members take no network out, though most that report: nobody is DOWN by one network on their word', () => {
    const five = after(5, 7, 30_000, [...backendOff([0, 1], 5, 8000), death(4, 20_000)]);
    expect(downs(five)).toEqual([]);
    expect(five.judgementOf('n4').reason).toContain('2 of 4 observers cannot send to it on backend');
    const four = after(4, 7, 30_000, [...backendOff([0, 1], 4, 8000), death(3, 20_000)]);
    expect(downs(four)).toEqual([]);
    expect(four.judgementOf('n3').reason).toContain('2 of 3 observers cannot send to it on backend');
  });
});

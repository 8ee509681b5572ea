import { describe, expect, it } from 'vitest';
import { DetectionProfiles, silenceTimeout } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { aHistory, drawHistory } from '../../../../sim/src/history.js';
import { SimulatedFleet } from '../../../../sim/src/simulated-fleet.js';
import { MONITOR, type Fault } from '../../../../sim/src/world.js';

const FROM = 8000;
const LASTS = 300_000;
const BOTH = ['backend', 'management'];
const X = silenceTimeout(DetectionProfiles.lan);

const lossy = (share: number, until = FROM + LASTS, from = FROM): Fault => ({
  kind: 'lossy',
  node: 0,
  share,
  from,
  until,
});

/** The oracle judges every one of these histories, too. */
function after(nodes: number, seed: number, until: number, faults: Fault[]): SimulatedFleet {
  const f = new SimulatedFleet(aHistory(nodes, seed, { faults })).run(until);
  expect(f.violations).toEqual([]);
  return f;
}
/** What was said since the loss began, of whom, one after the other. */
const said = (f: SimulatedFleet, node = 'n0'): string[] =>
  f.verdicts.filter((v) => v.node === node && v.at >= FROM).map((v) => v.verdict);

describe('a node that loses most of what it sends', () => {
  it.each([4, 5])('of %i is steadily DEGRADED for five minutes, after two changes at most, and never DOWN', (nodes) => {
    // In 15 and 21 three of four observers miss it six times in a row at the same moment.
    for (const seed of [1, 15, 21]) {
      const f = after(nodes, seed, FROM + LASTS, [lossy(0.8)]);
      expect(said(f).length).toBeLessThanOrEqual(2);
      expect(f.judgementOf('n0')).toMatchObject({ verdict: 'DEGRADED', networks: BOTH });
      expect(said(f)).not.toContain('DOWN');
      expect(f.names.slice(1).flatMap((n) => said(f, n))).toEqual([]);
    }
  });

  it('is UP within a minute and the silence timeout after the loss has ended, and not before', () => {
    const f = after(5, 3, FROM + 60_000, [lossy(0.8, FROM + 60_000)]);
    expect(f.verdictOf('n0')).toBe('DEGRADED');
    f.run(FROM + 120_000 + X + 1000);
    expect(f.verdictOf('n0')).toBe('UP');
  });

  it('is DOWN as soon as any other when it dies', () => {
    for (let seed = 1; seed <= 2; seed++) {
      const at = FROM + 40_000 + 100 * seed;
      const f = after(5, seed, at + X + 1500, [lossy(0.8), { kind: 'death', node: 0, from: at, until: Infinity }]);
      expect(f.verdictOf('n0')).toBe('DOWN');
      expect(f.verdicts.filter((v) => v.at < at).map((v) => v.verdict)).not.toContain('DOWN');
    }
  });

  it('says nothing by a report that a connection held while later ones came over another', () => {
    // Of three one is dead, and the only other observer's connections lose most segments for seconds.
    const h = drawHistory(423_896_078, 39);
    const faults: Fault[] = [...h.faults, { kind: 'lossy', node: 0, share: 0.7, from: 0, until: h.until }];
    expect(new SimulatedFleet({ ...h, faults }).run().violations).toEqual([]);
  });

  it('breaks no rule whatever else happens meanwhile', () => {
    for (let index = 0; index < runs(10); index++) {
      const h = drawHistory(SEED, index);
      const share = 0.3 + 0.1 * (index % 7);
      const faults: Fault[] = [
        ...h.faults,
        { kind: 'lossy', node: index % h.roles.length, share, from: 0, until: h.until },
      ];
      const f = new SimulatedFleet({ ...h, faults }).run();
      expect({ index, violations: f.violations }).toEqual({ index, violations: [] });
    }
  });
});

describe('a node that was away for a moment', () => {
  it('is UP again within a second of its return, as if it had never been suspected', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const cut: Fault = {
        kind: 'cut',
        a: [0],
        b: [1, 2, 3, 4, MONITOR],
        networks: BOTH,
        oneWay: false,
        from: 20_000,
        until: 22_600,
      };
      const f = after(5, seed, 23_600, [cut]);
      expect(said(f)).toEqual(['SUSPECT', 'UP']);
    }
  });
});

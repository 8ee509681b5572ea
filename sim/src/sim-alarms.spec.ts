import { describe, expect, it } from 'vitest';
import { QUALITY_HOLD_MS } from '../../apps/detector/src/conditions/link-quality.js';
import { aHistory } from './history.js';
import { SimulatedFleet } from './simulated-fleet.js';
import { SimAlarms } from './sim-alarms.js';

/** By then the minute over which loss is counted was a healthy one. */
const FROM = 70_000;
const UNTIL = FROM + 80_000;
/** Its last answers to be lost are forgotten, and its verdict follows. */
const OVER = UNTIL + 90_000;

function lossy(nodes: number, share: number, seed: number): SimAlarms {
  const faults = [{ kind: 'lossy' as const, node: 0, share, from: FROM, until: UNTIL }];
  return new SimAlarms(new SimulatedFleet(aHistory(nodes, seed, { faults })));
}

describe('what is told of a node that loses most of what it sends', () => {
  // With each of these two links or more of it were silent by chance for seconds, some beside each other.
  it.each([
    [4, 3],
    [5, 6],
    [8, 3],
    [8, 4],
  ])('of %i (seed %i) is one alarm, from its first minute on and until it is over', (nodes, seed) => {
    const alarms = lossy(nodes, 0.8, seed).run(UNTIL);
    expect(alarms.changes.map((t) => t.alarm)).not.toEqual([]);
    expect(new Set(alarms.changes.map((t) => t.alarm))).toEqual(new Set(['node-degraded=n0']));
    expect(alarms.active).toEqual(['node-degraded=n0']);
    alarms.run(OVER);
    expect(alarms.changes.filter((t) => t.is !== 'changed').map((t) => `${t.alarm} ${t.is}`)).toEqual([
      'node-degraded=n0 raised',
      'node-degraded=n0 over',
    ]);
  });

  it('is the quality of its links where it loses less, once that has lasted, and no link of it', () => {
    const alarms = lossy(5, 0.3, 1).run(OVER);
    expect(alarms.changes.filter((t) => t.is !== 'changed').map((t) => `${t.alarm} ${t.is}`)).toEqual([
      'link-quality=n0 raised',
      'link-quality=n0 over',
    ]);
    expect(alarms.changes[0]?.at).toBeGreaterThanOrEqual(FROM + QUALITY_HOLD_MS);
  });
});

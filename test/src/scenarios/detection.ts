import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, hostRunning, kill, msAfter, nowNs } from '../observations.js';
import type { Scenario } from '../scenario.js';

/** The mission's bound for a verdict, from death. */
const DOWN_WITHIN_MS = 4000;

/** A host that carries no workload. */
async function idleHost(fleet: Fleet): Promise<string> {
  const busy = await hostRunning(fleet, 'w1');
  const idle = fleet.info.hosts.map((h) => h.name).filter((h) => h !== busy);
  return idle.at(-1) as string;
}

export const D1: Scenario = {
  name: 'D1',
  timed: true,
  title: 'a killed host is DOWN within 4 s of its death, with one incident',
  async run(fleet, say) {
    const death = await kill(fleet, await idleHost(fleet));
    const down = await fleet.events.verdict(death.node, 'DOWN', 10_000, death.mark);
    const ms = msAfter(death, down);
    say(`DOWN after ${ms.toFixed(0)} ms`);
    assert.ok(ms <= DOWN_WITHIN_MS, `DOWN came ${ms.toFixed(0)} ms after death`);
    await fleet.events.incident(death.node, 'fenced', 25_000, death.mark);
    const ids = new Set(
      fleet.events.seen
        .slice(death.mark)
        .filter((e) => e.kind === 'incident')
        .map((e) => e.data['incident']),
    );
    assert.equal(ids.size, 1, `incidents: ${[...ids].join(', ')}`);
  },
};

/** One network of one node is cut: it is seen, nobody is powered off, and it clears by itself. */
const networkCut = (name: string, network: string): Scenario => ({
  name,
  needsNetns: true,
  title: `the ${network} network of one node is cut: DEGRADED(${network}), no fencing, clears by itself`,
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const node = fleet.nodeOf(host);
    const since = nowNs();
    const mark = fleet.events.mark();
    await fleet.lab('cut', host, '--network', network);
    const degraded = await fleet.events.verdict(node, 'DEGRADED', 10_000, mark);
    say(`DEGRADED after ${((Number(degraded.arrivedNs) - since) / 1e6).toFixed(0)} ms`);
    assert.deepEqual(degraded.data['networks'], [network]);
    const cleared = fleet.events.mark();
    await fleet.lab('heal', host);
    await fleet.events.verdict(node, 'UP', 10_000, cleared);
    await assertNoPowerWrites(fleet, since);
    const verdicts = fleet.events.seen.slice(mark).filter((e) => e.kind === 'verdict' && e.key === node);
    assert.ok(!verdicts.some((e) => e.data['verdict'] === 'DOWN'), 'it was called DOWN');
  },
});

export const D3 = networkCut('D3', 'management');
export const D4 = networkCut('D4', 'backend');

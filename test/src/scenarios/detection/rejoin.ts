import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import type { Scenario } from '../../scenario.js';
import { agentShows, agentStatus, allUp, hostNames, idleHost, lasts, Watch } from '../../watch.js';

/** Longer than a lost peer takes to be lost, shorter than anybody's patience. */
const OUTAGE_MS = 15_000;

/** How an outage heals, and which part of rejoin does it: without that part it must not heal in this time. */
interface Way {
  /** Its whole host is cut off, or only the link to one other. */
  cut: 'host' | 'link';
  /** The control plane comes back after the link does; otherwise it is away all the time. */
  controlReturns?: true;
  withinMs: number;
}

const ways: Record<'loop' | 'timer' | 'low-rate' | 'triggers', Way> = {
  // Who hears nobody looks for everybody each 5 s; the others would ask it to rejoin after 30 s.
  loop: { cut: 'host', withinMs: 12_000 },
  timer: { cut: 'host', withinMs: 12_000 },
  // One lost peer of several: asked to rejoin 30 s after it was lost, by the loop 60 s after the agent's start.
  'low-rate': { cut: 'link', withinMs: 30_000 },
  // As soon as NATS is back all lost peers are looked at.
  triggers: { cut: 'link', controlReturns: true, withinMs: 6_000 },
};

/** ms until both are members of each other again; undefined: not within the time. */
async function heals(fleet: Fleet, way: Way): Promise<number | undefined> {
  const host = await idleHost(fleet);
  const other = hostNames(fleet).find((h) => h !== host) as string;
  const pair = [
    [host, fleet.nodeOf(other)],
    [other, fleet.nodeOf(host)],
  ] as const;
  let natsRuns = false;
  const startNats = async (): Promise<void> => {
    if (!natsRuns) await fleet.lab('nats', 'start');
    natsRuns = true;
  };
  await fleet.lab('nats', 'kill');
  try {
    await fleet.lab('cut', way.cut === 'host' ? host : `${host}:${other}`);
    await lasts(OUTAGE_MS);
    for (const [watcher, node] of pair)
      await agentShows(
        fleet,
        watcher,
        `that ${node} is lost`,
        (s) => s.rejoin.lost.includes(node) || undefined,
        10_000,
      );
    await fleet.lab('heal');
    if (way.controlReturns === true) await startNats();
    const since = performance.now();
    const member = async (): Promise<boolean> =>
      (
        await Promise.all(pair.map(async ([w, node]) => !(await agentStatus(fleet, w)).rejoin.lost.includes(node)))
      ).every(Boolean);
    while (performance.now() - since < way.withinMs) if (await member()) return performance.now() - since;
    return undefined;
  } finally {
    await startNats();
    await allUp(fleet, 60_000);
  }
}

export const D22: Scenario = {
  name: 'D22',
  needsNetns: true,
  title: 'an outage of 15 s, healed while the control plane is down all the time: a member again by the rejoin loop',
  async run(fleet, say) {
    const watch = new Watch(fleet);
    const ms = await heals(fleet, ways.loop);
    assert.ok(ms !== undefined, `not a member again within ${ways.loop.withinMs / 1000} s`);
    say(`members again ${(ms / 1000).toFixed(1)} s after the cable was plugged in`);
    watch.never('DOWN');
    await watch.noPowerWrites();
  },
};

/** The same with each part of rejoin switched off: what rests on that part must not happen then. */
const withoutPart = (part: keyof typeof ways): Scenario => ({
  name: `D22.${part}`,
  needsNetns: true,
  title: `D22 with the ${part} of rejoin on, and off: then it does not heal in that time`,
  async run(fleet, say) {
    // Each begins with agents that have just started: by their start the loop's timer runs.
    const set = (to: 'on' | 'off'): Promise<unknown> => fleet.lab('agent', '--all', 'rejoin', `${part}=${to}`);
    const watch = new Watch(fleet);
    const settled = async (to: 'on' | 'off'): Promise<number | undefined> => {
      await set(to);
      await allUp(fleet);
      return heals(fleet, ways[part]);
    };
    try {
      const without = await settled('off');
      assert.equal(without, undefined, `it healed after ${String(without)} ms without the ${part}`);
      const whole = await settled('on');
      assert.ok(whole !== undefined, `it did not heal within ${ways[part].withinMs / 1000} s with the ${part}`);
      watch.never('DOWN');
      await watch.noPowerWrites();
      say(`with it ${(whole / 1000).toFixed(1)} s, without it not within ${ways[part].withinMs / 1000} s`);
    } finally {
      await set('on');
    }
  },
});

export const D22parts: readonly Scenario[] = (Object.keys(ways) as (keyof typeof ways)[]).map(withoutPart);

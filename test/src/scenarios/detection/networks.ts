import { strict as assert } from 'node:assert';
import type { AlarmRecord } from '#contracts';
import { hostRunning } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import {
  alarmCleared,
  alarmRaised,
  allUp,
  hostNames,
  lasts,
  LONG_ENOUGH,
  status,
  Watch,
  withProfile,
} from '../../watch.js';

/** One network of one node is cut: it is seen, nobody is powered off, and it clears by itself. */
const networkCut = (name: string, network: string): Scenario => ({
  name,
  needsNetns: true,
  title: `the ${network} network of one node is cut: DEGRADED(${network}), no fencing, clears by itself`,
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const watch = new Watch(fleet);
    await fleet.lab('cut', host, '--network', network);
    const degraded = await watch.verdict(host, 'DEGRADED');
    say(`DEGRADED after ${watch.ms(degraded).toFixed(0)} ms`);
    assert.deepEqual(degraded.data['networks'], [network]);
    const cleared = fleet.events.mark();
    await fleet.lab('heal', host);
    await watch.verdict(host, 'UP', 10_000, cleared);
    await watch.noPowerWrites();
    watch.never('DOWN');
  },
});

export const D3 = networkCut('D3', 'management');
export const D4 = networkCut('D4', 'backend');

export const D6: Scenario = {
  name: 'D6',
  needsNetns: true,
  title: 'a whole network is down: every node DEGRADED, one alarm, nobody is powered off',
  async run(fleet, say) {
    const hosts = hostNames(fleet);
    const watch = new Watch(fleet);
    await fleet.lab('cut', '--switch', 'backend');
    await watch.everyVerdict(hosts, 'DEGRADED');
    await alarmRaised(fleet, 'network-down', 'backend');
    // Those of single links and nodes are held for some seconds before they are told.
    await lasts(LONG_ENOUGH);
    const { items } = await fleet.api.get<{ items: AlarmRecord[] }>('/v1/alarms');
    const raised = items
      .filter((a) => a.cleared === undefined && a.since >= watch.at)
      .map((a) => `${a.code} ${a.subject}`);
    assert.deepEqual(raised, ['network-down backend'], 'others beside the one for all');
    await fleet.lab('heal');
    await allUp(fleet);
    await alarmCleared(fleet, 'network-down', 'backend');
    watch.never('DOWN');
    await watch.noPowerWrites();
    say(`${hosts.length} nodes DEGRADED, one alarm`);
  },
};

export const D8: Scenario = {
  name: 'D8',
  needsNetns: true,
  title: 'the link between two nodes is cut: both are UP, and an alarm names the link',
  async run(fleet) {
    const [a, b] = hostNames(fleet).slice(-2) as [string, string];
    const link = [fleet.nodeOf(a), fleet.nodeOf(b)].sort().join('~');
    const watch = new Watch(fleet);
    await fleet.lab('cut', `${a}:${b}`);
    await alarmRaised(fleet, 'link-down', link);
    await fleet.lab('heal');
    await alarmCleared(fleet, 'link-down', link);
    watch.never('DOWN', 'SUSPECT', 'UNKNOWN', 'DEGRADED');
    await watch.noPowerWrites();
  },
};

export const D9: Scenario = {
  name: 'D9',
  needsNetns: true,
  nodes: 6,
  title: 'a node is cut from two of five observers: UP, and an alarm',
  async run(fleet) {
    const [x, y, target] = hostNames(fleet).slice(-3) as [string, string, string];
    const watch = new Watch(fleet);
    for (const o of [x, y]) await fleet.lab('cut', `${o}:${target}`);
    await alarmRaised(fleet, 'partly-heard', fleet.nodeOf(target));
    await lasts(LONG_ENOUGH);
    await fleet.lab('heal');
    // Who has given each other up asks again every 30 s.
    await alarmCleared(fleet, 'partly-heard', fleet.nodeOf(target), 40_000);
    watch.never('DOWN', 'SUSPECT');
    await watch.noPowerWrites();
  },
};

/** Sides as the lab takes them, and how many of the members the monitor can then hear. */
async function split(fleet: Fleet, sides: readonly (readonly string[])[], holdMs: number): Promise<void> {
  const watch = new Watch(fleet);
  await fleet.lab('partition', sides.map((s) => s.join(',')).join('/'));
  try {
    await fleet.until(
      'the monitor to say that it is blind',
      async () => ((await status(fleet)).detector.sighted ? undefined : true),
      20_000,
    );
    await lasts(holdMs);
  } finally {
    await fleet.lab('heal');
  }
  await allUp(fleet);
  watch.never('DOWN');
  await watch.noPowerWrites();
}

const monitorOn = (hosts: readonly string[], here: number): string[][] => [
  [...hosts.slice(0, here), 'ctl'],
  hosts.slice(here),
];

export const D10: Scenario = {
  name: 'D10',
  needsNetns: true,
  title: 'the cluster splits 2 + 3 with the monitor on the small side: it is blind, nobody is powered off',
  async run(fleet) {
    await split(fleet, monitorOn(hostNames(fleet), 2), 3_000);
  },
};

const splitInEveryProfile = (name: string, nodes: number, here: number): Scenario => ({
  name,
  needsNetns: true,
  nodes,
  title: `the cluster splits ${here} + ${nodes - here} with the monitor on the first side, in every profile`,
  async run(fleet, say) {
    for (const profile of ['lan', 'fast', 'wan'] as const)
      await withProfile(fleet, profile, async (n) => {
        await split(fleet, monitorOn(hostNames(fleet), here), n.interval * n.misses + 2 * n.reportPeriod);
        say(`${profile}: nobody`);
      });
  },
});

export const D10of4 = splitInEveryProfile('D10.4', 4, 2);
export const D10of5 = splitInEveryProfile('D10.5', 5, 2);
export const D10of6 = splitInEveryProfile('D10.6', 6, 3);

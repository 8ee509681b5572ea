import { strict as assert } from 'node:assert';
import type { AlarmRecord } from '#contracts';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import { kill, powerWrites } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import { agentShows, alarmCleared, alarmRaised, hostNames, idleHost, lasts, LONG_ENOUGH, Watch } from '../../watch.js';

/** Alarms that were raised since then and stand, as `code subject`. */
async function raisedSince(fleet: Fleet, at: number): Promise<string[]> {
  const { items } = await fleet.api.get<{ items: AlarmRecord[] }>('/v1/alarms');
  return items
    .filter((a) => a.cleared === undefined && a.since >= at)
    .map((a) => `${a.code} ${a.subject}`)
    .sort();
}

/** Its agent says itself that nothing leaves there, since when and why. */
const cannotSend = (fleet: Fleet, host: string, network: string): Promise<unknown> =>
  agentShows(
    fleet,
    host,
    `that it cannot send on ${network}`,
    ({ health }) =>
      ((health.sendErrors[network] ?? 0) > 0 && health.unsent?.[network]?.error === 'ENETUNREACH') || undefined,
    10_000,
  );

/** A node dies: DOWN, and one off, of it alone. */
async function oneIsFenced(fleet: Fleet, say: (figure: string) => void): Promise<void> {
  const host = await idleHost(fleet);
  const watch = new Watch(fleet);
  const death = await kill(fleet, host);
  const down = await watch.verdict(host, 'DOWN');
  say(`DOWN ${watch.ms(down).toFixed(0)} ms after its death`);
  await fleet.events.incident(death.node, 'fenced', 30_000, watch.mark);
  assert.deepEqual(await powerWrites(fleet, host, watch.sinceNs), ['off']);
  for (const other of hostNames(fleet).filter((h) => h !== host))
    assert.deepEqual(await powerWrites(fleet, other, watch.sinceNs), [], `${other} got power commands`);
}

export const D6interfaces: Scenario = {
  name: 'D6.interfaces',
  needsNetns: true,
  nodes: 5,
  title:
    'the backend interfaces of all hosts go down, so that every send fails: DEGRADED, one alarm; a death is seen, one off',
  async run(fleet, say) {
    const hosts = hostNames(fleet);
    const watch = new Watch(fleet);
    await fleet.lab('interfaces', 'down', '--network', 'backend');
    await watch.everyVerdict(hosts, 'DEGRADED');
    await alarmRaised(fleet, 'network-down', 'backend');
    await cannotSend(fleet, hosts[0] as string, 'backend');
    await lasts(LONG_ENOUGH);
    assert.deepEqual(await raisedSince(fleet, watch.at), ['network-down backend'], 'others beside the one for all');
    watch.never('DOWN', 'SUSPECT', 'UNKNOWN');
    await watch.noPowerWrites();
    say(`${hosts.length} nodes DEGRADED, one alarm`);
    await oneIsFenced(fleet, say);
    await fleet.lab('interfaces', 'up', '--network', 'backend');
    await alarmCleared(fleet, 'network-down', 'backend');
  },
};

export const D6interface: Scenario = {
  name: 'D6.interface',
  needsNetns: true,
  nodes: 5,
  title:
    'the backend interface of one host goes down: it is DEGRADED there and warns of itself, a death is seen as before',
  async run(fleet, say) {
    const [host] = hostNames(fleet) as [string];
    const node = fleet.nodeOf(host);
    const watch = new Watch(fleet);
    await fleet.lab('interfaces', 'down', host, '--network', 'backend');
    const degraded = await watch.verdict(host, 'DEGRADED');
    assert.deepEqual(degraded.data['networks'], ['backend']);
    await cannotSend(fleet, host, 'backend');
    await alarmRaised(fleet, 'agent-health', node);
    await alarmRaised(fleet, 'node-degraded', node);
    await lasts(LONG_ENOUGH);
    assert.deepEqual(await raisedSince(fleet, watch.at), [`agent-health ${node}`, `node-degraded ${node}`]);
    watch.never('DOWN', 'SUSPECT', 'UNKNOWN');
    await watch.noPowerWrites();
    await oneIsFenced(fleet, say);
    await fleet.lab('interfaces', 'up', host, '--network', 'backend');
    await alarmCleared(fleet, 'agent-health', node);
    await alarmCleared(fleet, 'node-degraded', node);
  },
};

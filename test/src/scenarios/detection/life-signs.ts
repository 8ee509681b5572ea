import { strict as assert } from 'node:assert';
import { isAgentObserver, type NodeView } from '#contracts';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import { hostRunning, kill, powerWrites, startedAfter } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import { alarmCleared, alarmRaised, allUp, idleHost, inHost, killAgent, lasts, Watch } from '../../watch.js';

/** The firewall of a host drops these from now on; `ssh` only what the detectors and Ansible open, or all that shows life. */
async function filter(fleet: Fleet, host: string, what: 'ssh' | 'all'): Promise<void> {
  const rules = ['add rule inet lab in tcp dport 22 drop'];
  if (what === 'all') rules.push('add rule inet lab in ip protocol icmp drop', 'add rule inet lab in udp dport 9 drop');
  const out = what === 'all' ? ['add rule inet lab out icmp type destination-unreachable drop'] : [];
  const chain = (name: string, hook: string): string =>
    `add chain inet lab ${name} { type filter hook ${hook} priority 0; }`;
  const commands = ['add table inet lab', chain('in', 'input'), chain('out', 'output'), ...rules, ...out];
  await inHost(fleet, host, 'nft', commands.join('; '));
}
const openAgain = (fleet: Fleet, host: string): Promise<unknown> => inHost(fleet, host, 'nft', 'delete table inet lab');

const lifeSeen = (fleet: Fleet, node: string, what: string, is: (channels: string[]) => boolean): Promise<unknown> =>
  fleet.until(
    `the host of ${node} to have shown ${what}`,
    async () => {
      const { lifeSeen: seen = {} } = await fleet.api.get<NodeView>(`/v1/nodes/${node}`);
      const all = Object.values(seen).map((s) => s.channels);
      return (all.length > 0 && all.every(is)) || undefined;
    },
    // A channel that was missed is looked for again after a minute, and after five.
    7 * 60_000,
  );

export const F35: Scenario = {
  name: 'F35',
  needsNetns: true,
  title:
    'ssh is filtered, then an agent killed: agent-down, no off; every channel filtered: life-sign-weak, held when it dies, fenced once that is waived',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const node = fleet.nodeOf(host);
    await lifeSeen(fleet, node, 'a closed port', (channels) => channels.includes('port'));
    const first = new Watch(fleet);
    await filter(fleet, host, 'ssh');
    await inHost(fleet, host, 'mv', '/etc/muster/agent.json', '/etc/muster/agent.json.away');
    await killAgent(fleet, host);
    await alarmRaised(fleet, 'agent-down', node);
    await lasts(15_000);
    const { phase, gate } = await fleet.incident(host);
    assert.deepEqual([phase, gate], ['suppressed', 'LIFE_SIGN']);
    await first.noPowerWrites();
    say('its kernel alone speaks: held for 15 s');
    await openAgain(fleet, host);
    await inHost(fleet, host, 'mv', '/etc/muster/agent.json.away', '/etc/muster/agent.json');
    await allUp(fleet);
    await alarmCleared(fleet, 'agent-down', node);
    await first.noPowerWrites();

    // At another port it is looked at anew.
    await filter(fleet, host, 'all');
    await fleet.api.request('PATCH', `/v1/nodes/${node}`, { vars: { ansible_port: 2200 } });
    try {
      await alarmRaised(fleet, 'life-sign-weak', node, 60_000);
      const second = new Watch(fleet);
      const death = await kill(fleet, host);
      await second.verdict(host, 'DOWN');
      await alarmRaised(fleet, 'fencing-suppressed', node);
      await lasts(15_000);
      await second.noPowerWrites();
      await fleet.api.request('PUT', `/v1/nodes/${node}/life-sign-waiver`, { reason: 'the scenario' });
      await fleet.events.incident(death.node, 'fenced', 30_000, death.mark);
      assert.equal((await powerWrites(fleet, host, death.ns))[0], 'off');
      say('held while nothing else could show that it lives, fenced once that was waived');
      // A host of the lab keeps its firewall over a boot.
      await fleet.lab('boot', host);
      await openAgain(fleet, host);
    } finally {
      await fleet.api.request('DELETE', `/v1/nodes/${node}/life-sign-waiver`);
      await fleet.api.request('PATCH', `/v1/nodes/${node}`, { vars: { ansible_port: 22 } });
    }
  },
};

/** ms from the death: whose agent was stopped is silent to two observers, each of whom keeps a sign of life for 10 s. */
const STOPPED_RUNNING_WITHIN_MS = 60_000;

export const F35stopped: Scenario = {
  name: 'F35-stopped',
  needsNetns: true,
  title:
    'an agent is stopped by hand on a host that lives: no off; 70 s later the host dies: nodes that were asked find it silent too, fenced, its work running elsewhere',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const node = fleet.nodeOf(host);
    await fleet.until(
      `two nodes to have seen the host of ${node} live`,
      async () => {
        const { lifeSeen: seen = {} } = await fleet.api.get<NodeView>(`/v1/nodes/${node}`);
        const asked = Object.entries(seen).filter(([by, { channels }]) => isAgentObserver(by) && channels.length > 0);
        return asked.length > 1 || undefined;
      },
      90_000,
    );
    const watch = new Watch(fleet);
    await inHost(fleet, host, 'systemctl', 'stop', 'muster-agent.service');
    await watch.verdict(host, 'LEFT');
    await alarmRaised(fleet, 'agent-down', node, 90_000);
    await lasts(10_000);
    const held = await fleet.incident(host);
    assert.deepEqual([held.phase, held.gate], ['suppressed', 'LIFE_SIGN']);
    const looks = held.verdict?.evidence.lifeLooks ?? [];
    assert.ok(
      looks.some((l) => l.ssh === 'banner'),
      `asked: ${JSON.stringify(looks)}`,
    );
    await watch.noPowerWrites();
    say(`held while it lives, on the word of ${looks.map((l) => l.by).join(', ')} too`);

    const death = await kill(fleet, host);
    await fleet.events.incident(node, 'fenced', STOPPED_RUNNING_WITHIN_MS, death.mark);
    const run = await startedAfter(fleet, 'w1', death.ns, STOPPED_RUNNING_WITHIN_MS);
    say(`its host died: running on ${run.host} after ${((run.fromNs - death.ns) / 1e9).toFixed(1)} s`);
    assert.notEqual(run.host, host);
    assert.equal((await powerWrites(fleet, host, death.ns))[0], 'off');
  },
};

/** ms from the hang: x, the hold, and a death as any other. */
const RUNNING_WITHIN_MS = 25_000;

export const F36: Scenario = {
  name: 'F36',
  needsNetns: true,
  standsStill: true,
  title:
    'a host hangs, its kernel alive: nothing when it wakes within the hold, an alarm where that is the policy, else fenced and its work running within 25 s',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const node = fleet.nodeOf(host);
    await lifeSeen(fleet, node, 'more than its ssh', (channels) => channels.length > 1);
    const short = new Watch(fleet);
    await fleet.lab('pause', host, '--for', '8');
    await allUp(fleet);
    await short.noPowerWrites();
    say('8 s: nothing');

    await fleet.api.request('PATCH', '/v1/settings', { fencing: { hung: 'alarm' } });
    try {
      const told = new Watch(fleet);
      await fleet.lab('pause', host);
      await alarmRaised(fleet, 'host-hung', node);
      await lasts(15_000);
      await told.noPowerWrites();
      await fleet.lab('resume', host);
      await allUp(fleet);
      await alarmCleared(fleet, 'host-hung', node);
    } finally {
      await fleet.api.request('PATCH', '/v1/settings', { fencing: { hung: null } });
    }
    say('only told of by policy');
    // The banner with which it woke up is no sign of life any more.
    await lasts(11_000);

    const watch = new Watch(fleet);
    await fleet.lab('pause', host);
    await fleet.events.incident(node, 'fenced', 30_000, watch.mark);
    const run = await startedAfter(fleet, 'w1', watch.sinceNs, 30_000);
    const ms = (run.fromNs - watch.sinceNs) / 1e6;
    say(`running on ${run.host} after ${(ms / 1000).toFixed(1)} s`);
    assert.notEqual(run.host, host);
    assert.equal((await powerWrites(fleet, host, watch.sinceNs))[0], 'off');
    assert.ok(ms <= RUNNING_WITHIN_MS, `running after ${ms.toFixed(0)} ms`);
  },
};

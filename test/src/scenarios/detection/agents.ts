import { strict as assert } from 'node:assert';
import { VoidRound, type Scenario } from '../../scenario.js';
import {
  agentStatus,
  alarmCleared,
  alarmRaised,
  allUp,
  hostNames,
  idleHost,
  inHost,
  killAgent,
  lasts,
  Watch,
} from '../../watch.js';

export const D2: Scenario = {
  name: 'D2',
  title:
    'the agent is killed: at once restarted, UP all the time; kept dead on a living host, alarm agent-down, no off',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const node = fleet.nodeOf(host);
    const first = new Watch(fleet);
    const { epoch } = await agentStatus(fleet, host);
    await killAgent(fleet, host);
    const anew = await fleet.events.until(
      'a verdict that names the new agent',
      (e) => e.kind === 'verdict' && e.key === node && Number(e.data['agentEpoch']) > epoch,
      10_000,
      first.mark,
    );
    assert.equal(anew.data['verdict'], 'UP');
    first.never('DOWN', 'SUSPECT', 'UNKNOWN', 'DEGRADED', 'LEFT');
    await first.noPowerWrites();
    say(`noticed after ${first.ms(anew).toFixed(0)} ms`);

    const second = new Watch(fleet);
    await inHost(fleet, host, 'mv', '/etc/muster/agent.json', '/etc/muster/agent.json.away');
    try {
      await killAgent(fleet, host);
      await alarmRaised(fleet, 'agent-down', node);
      await lasts(5_000);
      const { phase, gate } = await fleet.incident(host);
      assert.deepEqual([phase, gate], ['suppressed', 'LIFE_SIGN']);
      await second.noPowerWrites();
    } finally {
      await inHost(fleet, host, 'mv', '/etc/muster/agent.json.away', '/etc/muster/agent.json');
    }
    await allUp(fleet);
    await alarmCleared(fleet, 'agent-down', node);
    await second.noPowerWrites();
  },
};

/** ms, of 2 s that were asked for: nearer to x, and the host is as good as dead. */
const STOOD_MOST = 2_400;

export const D13: Scenario = {
  name: 'D13',
  standsStill: true,
  title: 'a whole host stands still for 2 s: it is never called DOWN, and reports nobody down',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    const { stoodMs } = await fleet.lab<{ stoodMs: number }>('pause', host, '--for', '2');
    if (stoodMs > STOOD_MOST) throw new VoidRound(`${host} was woken up late, after ${stoodMs} ms`);
    await lasts(3_000);
    await allUp(fleet);
    watch.never('DOWN');
    assert.deepEqual(
      watch.verdicts().filter((e) => e.key !== fleet.nodeOf(host) && e.data['verdict'] !== 'UP'),
      [],
    );
    await watch.noPowerWrites();
    say(`stood still for ${stoodMs} ms`);
  },
};

export const D13agent: Scenario = {
  name: 'D13.agent',
  standsStill: true,
  title: 'an agent alone stands still for 20 s: alarm, no off, for the host answers; then all of them at once: no DOWN',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    await fleet.lab('pause', host, '--only', 'agent');
    const paused = Date.now();
    await alarmRaised(fleet, 'agent-down', fleet.nodeOf(host));
    await lasts(Math.max(0, 20_000 - (Date.now() - paused)));
    const mark = fleet.events.mark();
    await fleet.lab('resume', host, '--only', 'agent');
    await allUp(fleet);
    const reported = fleet.events
      .verdicts(mark)
      .filter((e) => e.key !== fleet.nodeOf(host) && e.data['verdict'] !== 'UP');
    assert.deepEqual(reported, [], 'it reported others down when it went on');
    await watch.noPowerWrites();

    const all = new Watch(fleet);
    const hosts = hostNames(fleet);
    await Promise.all(hosts.map((h) => fleet.lab('pause', h, '--only', 'agent')));
    await lasts(10_000);
    await Promise.all(hosts.map((h) => fleet.lab('resume', h, '--only', 'agent')));
    await allUp(fleet);
    all.never('DOWN');
    await all.noPowerWrites();
    say('all agents at once: nobody');
  },
};

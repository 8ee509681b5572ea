import { strict as assert } from 'node:assert';
import { MischiefKinds } from '../../../../lab/src/mischief/mischief-plan.js';
import type { Scenario } from '../../scenario.js';
import {
  agentStatus,
  type AgentStatus,
  allUp,
  hostNames,
  idleHost,
  killAgent,
  lasts,
  LONG_ENOUGH,
  Watch,
} from '../../watch.js';

const droppedAs = (s: AgentStatus, reason: string): number => s.health.metrics?.dropped[reason] ?? 0;

export const D15: Scenario = {
  name: 'D15',
  needsNetns: true,
  title:
    'late, doubled, reordered, cut, oversized, foreign, forged, replayed and reflected datagrams: ignored, counted',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    const before = await agentStatus(fleet, host);
    const sent = await Promise.all(MischiefKinds.map((kind) => fleet.lab('datagram', host, kind)));
    const after = await agentStatus(fleet, host);
    assert.equal(after.epoch, before.epoch, 'the agent was restarted');
    const grown = (reason: string): number => droppedAs(after, reason) - droppedAs(before, reason);
    for (const reason of ['size', 'mac', 'late-or-duplicate'])
      assert.ok(grown(reason) > 0, `none was dropped as ${reason}: ${JSON.stringify(after.health.metrics?.dropped)}`);
    const counted = Object.keys(after.health.metrics?.dropped ?? {}).reduce((sum, r) => sum + grown(r), 0);
    watch.never('DOWN', 'SUSPECT', 'DEGRADED', 'UNKNOWN');
    say(`${sent.length} kinds, ${counted} ignored and counted`);
  },
};

/** All but the gateway, whose clock only stamps what it logs. */
const PROCESSES = ['detector', 'inventory', 'fencer', 'provisioner'].flatMap((s) => [`${s}.1`, `${s}.2`]);

export const D16: Scenario = {
  name: 'D16',
  needsNetns: true,
  needsClocks: true,
  title: 'the wall clock of an agent, of any service, then of all of them jumps by an hour: nothing happens',
  async run(fleet, say) {
    const agents = hostNames(fleet);
    const watch = new Watch(fleet);
    for (const who of [[agents[0] as string], ...PROCESSES.map((p) => [p]), [...agents, ...PROCESSES]])
      for (const by of ['+1h', '-1h', '0']) {
        await Promise.all(who.map((w) => fleet.lab('clock', w, by)));
        await lasts(1_500);
      }
    watch.never('DOWN', 'SUSPECT', 'DEGRADED', 'UNKNOWN', 'LEFT');
    await watch.noPowerWrites();
    const incidents = fleet.events.seen.slice(watch.mark).filter((e) => e.kind === 'incident');
    assert.deepEqual(incidents, []);
    say(`${agents.length} agents and ${PROCESSES.length} services, ±1 h`);
  },
};

export const D18: Scenario = {
  name: 'D18',
  title: 'reports in the name of another node are refused: without its user, and with that of a third',
  async run(fleet) {
    const [victim, forger] = hostNames(fleet)
      .slice(-2)
      .map((h) => fleet.nodeOf(h)) as [string, string];
    const watch = new Watch(fleet);
    const report = JSON.stringify({ v: 1, node: victim, bootId: 'forged', epoch: Date.now() * 2, seq: 1 });
    for (const as of [[], ['--as', `agent=${forger}`]])
      await assert.rejects(
        fleet.lab('nats', 'publish', `muster.report.${victim}`, report, ...as),
        /[Pp]ermission/,
        `${as.join(' ')} could speak as ${victim}`,
      );
    await lasts(2_000);
    assert.deepEqual(watch.verdicts(), []);
  },
};

export const D18vote: Scenario = {
  name: 'D18.vote',
  title: 'one honest user accuses another node in thirty reports, boots and epochs: that is one vote, and no verdict',
  async run(fleet, say) {
    const [victim, liar] = hostNames(fleet).slice(-2) as [string, string];
    const [accused, own] = [fleet.nodeOf(victim), fleet.nodeOf(liar)];
    const watch = new Watch(fleet);
    const { list: _list, rejoin: _rejoin, ...honest } = await agentStatus(fleet, liar);
    const peers = honest.peers.map(([name, links]) => [name, name === accused ? links.map(() => [99, -1]) : links]);
    for (let i = 1; i <= 30; i++) {
      const report = { ...honest, peers, bootId: `boot-${i % 5}`, epoch: honest.epoch + i, seq: i };
      await fleet.lab('nats', 'publish', `muster.report.${own}`, JSON.stringify(report), '--as', `agent=${own}`);
    }
    await lasts(LONG_ENOUGH);
    const onVictim = watch.verdicts(victim).filter((e) => e.data['verdict'] !== 'UP');
    assert.deepEqual(onVictim, []);
    watch.never('DOWN');
    await watch.noPowerWrites();
    say('30 reports of one user: nobody');
    // Its next process has a greater epoch than all that was said in its name.
    await killAgent(fleet, liar);
    await allUp(fleet);
  },
};

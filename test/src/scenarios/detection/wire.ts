import { strict as assert } from 'node:assert';
import { MischiefKinds } from '../../../../lab/src/mischief/mischief-plan.js';
import type { Scenario } from '../../scenario.js';
import { agentStatus, type AgentStatus, idleHost, lasts, hostNames, Watch } from '../../watch.js';

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

export const D16: Scenario = {
  name: 'D16',
  needsNetns: true,
  needsClocks: true,
  title: 'the wall clock of an agent and of the monitors jumps by an hour: nothing happens',
  async run(fleet) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    for (const who of [host, 'detector.1', 'detector.2'])
      for (const by of ['+1h', '-1h', '0']) {
        await fleet.lab('clock', who, by);
        await lasts(1_500);
      }
    watch.never('DOWN', 'SUSPECT', 'DEGRADED', 'UNKNOWN', 'LEFT');
    await watch.noPowerWrites();
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

import { strict as assert } from 'node:assert';
import { MischiefKinds, type MischiefKind } from '../../../../lab/src/mischief/mischief-plan.js';
import type { MischiefAnswer } from '../../../../lab/src/mischief/mischief.js';
import type { LabInfo } from '../../../../lab/src/info.js';
import type { Scenario } from '../../scenario.js';
import {
  agentShows,
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

/** What the agent must drop of what is sent, and as what; `some`: what was captured holds other types, too. */
const dropped: Record<MischiefKind, { as: string[]; some?: true }> = {
  duplicate: { as: ['late-or-duplicate'] },
  reordered: { as: ['late-or-duplicate'], some: true },
  replay: { as: ['late-or-duplicate'], some: true },
  truncated: { as: ['size'] },
  oversized: { as: ['size'] },
  'foreign-cluster': { as: ['mac'] },
  'wrong-key': { as: ['mac'] },
  'echo-back': { as: ['own'] },
  noise: { as: ['size', 'magic'] },
  late: { as: ['late-or-duplicate'] },
};

const droppedAs = (s: AgentStatus, reasons: readonly string[]): number =>
  reasons.reduce((sum, r) => sum + (s.health.metrics?.dropped[r] ?? 0), 0);

export const D15: Scenario = {
  name: 'D15',
  needsNetns: true,
  title:
    'late, doubled, reordered, cut, oversized, foreign, forged, replayed and reflected datagrams: each ignored, counted as what it is',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    const first = await agentStatus(fleet, host);
    let all = 0;
    const ignored = async (kind: MischiefKind): Promise<void> => {
      const { as, some } = dropped[kind];
      const before = droppedAs(await agentStatus(fleet, host), as);
      const { sent, answered } = await fleet.lab<MischiefAnswer>('datagram', host, kind);
      // A probe that comes once more is answered: its answer goes to whom it is for, and tells nobody anything.
      if (some === undefined) assert.equal(answered, 0, `${kind}: ${answered} were answered`);
      await agentShows(
        fleet,
        host,
        `${some === undefined ? sent : 'some'} of ${sent} ${kind} ignored as ${as.join(' or ')}`,
        (s) => droppedAs(s, as) - before >= (some === undefined ? sent : 1) || undefined,
        5_000,
      );
      all += sent;
    };
    // What counts as the same comes one after the other, all else at once; that of eight seconds ago beside its like.
    const others = MischiefKinds.filter((kind) => kind !== 'late');
    const counted = [...new Set(others.map((kind) => dropped[kind].as[0]))].map((as) =>
      others.filter((kind) => dropped[kind].as[0] === as),
    );
    const inTurn = async (kinds: readonly MischiefKind[]): Promise<void> => {
      for (const kind of kinds) await ignored(kind);
    };
    await Promise.all([['late' as const], ...counted].map(inTurn));
    const after = await agentStatus(fleet, host);
    assert.equal(after.epoch, first.epoch, 'the agent was restarted');
    watch.never('DOWN', 'SUSPECT', 'DEGRADED', 'UNKNOWN');
    await watch.noPowerWrites();
    say(`${all} datagrams of ${MischiefKinds.length} kinds ignored and counted`);
  },
};

export const D16: Scenario = {
  name: 'D16',
  needsNetns: true,
  needsClocks: true,
  // nats-server asks the kernel past the C library: nobody can deceive it without setting the machine's clock.
  title: 'the wall clock of an agent, of any service, then of all of them jumps by an hour: nothing happens',
  async run(fleet, say) {
    const agents = hostNames(fleet);
    const { processes } = await fleet.lab<LabInfo & Record<string, unknown>>('info');
    const services = processes.flatMap((p) => (p.instance === undefined ? [] : [p.name]));
    const watch = new Watch(fleet);
    for (const who of [[agents[0] as string], ...services.map((p) => [p]), [...agents, ...services]])
      for (const by of ['+1h', '-1h', '0']) {
        await Promise.all(who.map((w) => fleet.lab('clock', w, by)));
        await lasts(1_500);
      }
    watch.never('DOWN', 'SUSPECT', 'DEGRADED', 'UNKNOWN', 'LEFT');
    await watch.noPowerWrites();
    const incidents = fleet.events.seen.slice(watch.mark).filter((e) => e.kind === 'incident');
    assert.deepEqual(incidents, []);
    say(`${agents.length} agents and ${services.length} services, ±1 h`);
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
    await watch.noPowerWrites();
  },
};

export const D18vote: Scenario = {
  name: 'D18.vote',
  title:
    'one honest user reports another node down in thirty reports, boots and epochs: that is one vote, and no verdict',
  async run(fleet, say) {
    const [victim, liar] = hostNames(fleet).slice(-2) as [string, string];
    const [victimNode, own] = [fleet.nodeOf(victim), fleet.nodeOf(liar)];
    const watch = new Watch(fleet);
    const { list: _list, rejoin: _rejoin, ...honest } = await agentStatus(fleet, liar);
    const peers = honest.peers.map(([name, links]) => [name, name === victimNode ? links.map(() => [99, -1]) : links]);
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

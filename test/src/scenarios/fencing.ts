import { strict as assert } from 'node:assert';
import type { StatusView } from '#contracts';
import { alarm, assignedTo, hostRunning, kill, nowNs, powerWrites, startedAfter } from '../observations.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import type { Scenario } from '../scenario.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

export const F3: Scenario = {
  name: 'F3',
  title: 'the BMC says ok but the node stays on: failed, alarm, started nowhere, retried',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const moved = (await assignedTo(fleet, host)).map((w) => w.name);
    await fleet.lab('bmc', host, 'stuck_on');
    const death = await kill(fleet, host);
    await fleet.events.incident(death.node, 'failed', 60_000, death.mark);
    await fleet.until('the alarm fencing-failed', () => alarm(fleet, 'fencing-failed', death.node), 5_000);
    const tries = (await powerWrites(fleet, host, death.ns)).length;
    for (const name of moved) {
      const late = (await fleet.history(name))?.runs.filter((r) => r.fromNs > death.ns) ?? [];
      assert.deepEqual(late, [], `${name} was started although ${host} is not off`);
    }
    await fleet.lab('bmc', host, 'ok');
    await fleet.events.incident(death.node, 'fenced', 60_000, death.mark);
    const run = await startedAfter(fleet, 'w1', death.ns, 30_000);
    say(`${tries} off while stuck; retried and fenced, then running on ${run.host}`);
    assert.ok((await powerWrites(fleet, host, death.ns)).includes('off'));
    await fleet.until(
      'the alarm to clear',
      async () => ((await alarm(fleet, 'fencing-failed', death.node)) ? undefined : true),
      10_000,
    );
  },
};

export const F19: Scenario = {
  name: 'F19',
  also: ['V6'],
  title:
    'the leader is killed after its intent was written: finished once, by the other; the fenced node boots by itself, its units enabled at boot: the start gate refuses each',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const names = (await assignedTo(fleet, host)).filter((w) => w.desired === 'running').map((w) => w.name);
    const status = await fleet.api.get<StatusView>('/v1/status');
    const leader = status.leases.find((l) => l.name === 'fencer')?.holder ?? '';
    const service = leader.replace('-', '.');
    await fleet.lab('bmc', host, 'hold=set');
    const death = await kill(fleet, host);
    const held = await fleet.until(
      'the off to reach the BMC',
      async () => (await fleet.bmc(host)).find((e) => e.op === 'set' && e.ns >= death.ns),
      20_000,
    );
    await fleet.lab('service', service, 'kill');
    const killed = nowNs();
    await fleet.lab('bmc', host, 'release');
    await fleet.events.incident(death.node, 'fenced', 40_000, death.mark);
    const booted = nowNs();
    await fleet.lab('boot', host);
    const incident = await fleet.incident(host);
    const first = incident.commands.find((c) => c.verb === 'off');
    assert.equal(first?.fencer, leader, 'the first off was the killed leader’s');
    assert.ok((first?.at ?? Infinity) <= held.at + 50, 'the intent was not written before the command');
    const others = new Set(incident.commands.filter((c) => c.epoch > (first?.epoch ?? 0)).map((c) => c.fencer));
    assert.equal(others.size, 1, `finished by ${[...others].join(', ') || 'nobody'}`);
    assert.ok(!others.has(leader), 'the killed leader went on');
    const run = await startedAfter(fleet, 'w1', death.ns, 30_000);
    say(
      `taken over ${((run.fromNs - killed) / 1e6).toFixed(0)} ms after the leader's death until running on ${run.host}`,
    );
    await gateRefused(fleet, { host, names, booted, deathNs: death.ns });
    say(`${names.length} units refused on ${host}`);
    await fleet.lab('service', service, 'start');
  },
};

/** V6: they are started elsewhere, and never again on the host that booted by itself. */
async function gateRefused(
  fleet: Fleet,
  { host, names, booted, deathNs }: { host: string; names: string[]; booted: number; deathNs: number },
): Promise<void> {
  for (const name of names) await startedAfter(fleet, name, deathNs, ELSEWHERE_WITHIN_MS);
  await fleet.until(
    'the start gate to refuse each unit',
    async () => {
      const logs = await fleet.unitLogs(host);
      return names.every((n) => logs.includes(`muster-gate: ${n} may not start here`)) ? true : undefined;
    },
    30_000,
  );
  for (const name of names) {
    const history = await fleet.history(name);
    const there = history?.runs.filter((r) => r.host === host && r.fromNs > booted) ?? [];
    assert.deepEqual(there, [], `${name} ran on ${host} after it was fenced`);
    assert.equal(history?.longestOverlapMs, 0);
  }
}

import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { GateResult, NodeView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import {
  alarm,
  assertNoPowerWrites,
  hostRunning,
  kill,
  nowNs,
  powerWrites,
  startedAfter,
  type Death,
} from '../observations.js';
import type { Scenario } from '../scenario.js';

const proofOf = (n: NodeView): string | undefined => n.powerIdentity?.['bmc']?.result;

async function allProven(fleet: Fleet): Promise<void> {
  await fleet.until(
    'every power device to be proven',
    async () => ((await fleet.nodes()).every((n) => proofOf(n) === 'proven') ? true : undefined),
    30_000,
  );
}

/** A node's devices with their password given anew. */
async function passwordGiver(fleet: Fleet): Promise<(n: NodeView) => unknown> {
  const password = (await readFile(join(fleet.options.dir, 'run', 'bmc-password'), 'utf8')).trim();
  return (n) => n.powerLevels.map((level) => level.map(({ secret: _kept, ...device }) => ({ ...device, password })));
}

const stoppedBy = async (fleet: Fleet, host: string): Promise<GateResult | undefined> => {
  const order = { reason: 'a dry run', dryRun: true };
  const { gates } = await fleet.api.post<{ gates: GateResult[] }>(`/v1/nodes/${fleet.nodeOf(host)}/fence`, order);
  return gates.find((g) => g.gate === 'NOT_FENCEABLE' && !g.pass);
};

export const F29: Scenario = {
  name: 'F29',
  title: 'one BMC for two nodes is refused; forced into the store neither is fenced by it, and both are named',
  async run(fleet, say) {
    const [one, other] = fleet.info.hosts.slice(-2).map((h) => h.name) as [string, string];
    const [was, theirs] = [await fleet.node(one), await fleet.node(other)];
    const since = nowNs();
    const withPassword = await passwordGiver(fleet);
    const path = `/v1/nodes/${was.name}`;
    const refused = await fleet.api.exchange('PATCH', path, { powerLevels: withPassword(theirs) });
    assert.ok(refused.text.includes('ALREADY_EXISTS') && refused.text.includes(theirs.name), refused.text);
    const { revision: _r, inService: _i, reasons: _w, ...stored } = await fleet.node(one);
    const forced = JSON.stringify({ ...stored, powerLevels: theirs.powerLevels });
    await fleet.lab('nats', 'publish', `$KV.nodes.${was.name}`, forced, '--as', 'inventory');
    for (const [node, named] of [
      [was.name, theirs.name],
      [theirs.name, was.name],
    ] as const) {
      const raised = await fleet.until('the alarm power-place', () => alarm(fleet, 'power-place', node), 10_000);
      assert.ok(raised.message.includes(named), raised.message);
    }
    for (const host of [one, other]) assert.ok(await stoppedBy(fleet, host), `${host} would be fenced`);
    await fleet.api.request('PATCH', path, { powerLevels: withPassword(was) });
    await fleet.until(
      'the alarms to clear',
      async () => ((await alarm(fleet, 'power-place', theirs.name)) ? undefined : true),
      10_000,
    );
    await assertNoPowerWrites(fleet, since);
    say(`${was.name} and ${theirs.name} were named, and are fenceable again`);
  },
};

export const F28: Scenario = {
  name: 'F28',
  title: 'two BMCs are swapped and a living target is cut off: by identity nobody is switched off, with an alarm',
  needsNetns: true,
  async run(fleet, say) {
    const target = await hostRunning(fleet, 'w1');
    const bystander = fleet.info.hosts.map((h) => h.name).findLast((h) => h !== target) ?? '';
    await allProven(fleet);
    const since = nowNs();
    await fleet.lab('bmc', target, 'swap', bystander);
    const mark = fleet.events.mark();
    await fleet.lab('cut', target);
    const node = fleet.nodeOf(target);
    await fleet.events.incident(node, 'suppressed', 60_000, mark);
    const raised = await fleet.until('the alarm power-identity', () => alarm(fleet, 'power-identity', node), 10_000);
    assert.ok(raised.message.includes(fleet.nodeOf(bystander)), raised.message);
    assert.equal((await fleet.incident(target)).gate, 'NOT_FENCEABLE');
    assert.equal(await hostRunning(fleet, 'w1'), target, 'w1 runs on the target, which lives');
    await assertNoPowerWrites(fleet, since);
    await fleet.lab('bmc', target, 'swap', bystander);
    for (const host of [target, bystander]) await fleet.api.post(`/v1/nodes/${fleet.nodeOf(host)}/identify`, {});
    await allProven(fleet);
    await fleet.lab('heal', target);
    say(`${target} and ${bystander} are proven again; nothing was switched off`);
  },
};

/** So long nothing may be started that runs on the host which was cut off, ms: twice what a recovery takes. */
const NOTHING_STARTS_MS = 20_000;

/** Reads the host's device now. @returns where it stands */
async function identified(fleet: Fleet, host: string): Promise<string | undefined> {
  const read = await fleet.api.post<{ devices: { standing: string }[] }>(
    `/v1/nodes/${fleet.nodeOf(host)}/identify`,
    {},
  );
  return read.devices[0]?.standing;
}

async function loseIdentity(fleet: Fleet, host: string): Promise<void> {
  const node = await fleet.node(host);
  await fleet.lab('bmc', host, 'no-identity');
  // Away and back again: what was proven is void, as where somebody has put another device there.
  for (const port of [1, undefined]) {
    const there = node.powerLevels.map((level) => level.map((d) => ({ ...d, ...(port !== undefined && { port }) })));
    const powerLevels = (await passwordGiver(fleet))({ ...node, powerLevels: there });
    await fleet.api.request('PATCH', `/v1/nodes/${node.name}`, { powerLevels });
  }
  await fleet.until(
    `the device of ${host} to be unproven`,
    async () => ((await identified(fleet, host)) === 'unproven' ? true : undefined),
    60_000,
  );
}

export const F28unproven: Scenario = {
  name: 'F28.unproven',
  title:
    'two swapped BMCs tell nothing of themselves and a living target is cut off: its work is started nowhere, one machine at most is switched off, an alarm names both',
  needsNetns: true,
  async run(fleet, say) {
    const target = await hostRunning(fleet, 'w1');
    const bystander = fleet.info.hosts.map((h) => h.name).findLast((h) => h !== target) ?? '';
    await allProven(fleet);
    for (const host of [target, bystander]) await loseIdentity(fleet, host);
    await fleet.lab('bmc', target, 'swap', bystander);
    const since = nowNs();
    await fleet.lab('cut', target);
    const raised = await fleet.until(
      'the alarm collateral',
      () => alarm(fleet, 'collateral', fleet.nodeOf(target)),
      60_000,
    );
    assert.ok(raised.message.includes(fleet.nodeOf(bystander)), raised.message);
    await pause(NOTHING_STARTS_MS); // what is looked for is that nothing happens
    const runs = (await fleet.history('w1'))?.runs ?? [];
    assert.deepEqual(
      runs.filter((r) => r.fromNs > since).map((r) => r.host),
      [],
      'w1 was started',
    );
    assert.equal(await hostRunning(fleet, 'w1'), target, 'w1 runs on the target, which lives');
    const writes = await Promise.all(fleet.info.hosts.map((h) => powerWrites(fleet, h.name, since)));
    assert.deepEqual(writes.flat(), ['off']);
    say(raised.message);

    await fleet.lab('heal', target);
    for (const host of [target, bystander]) await fleet.lab('bmc', host, 'own');
    await fleet.lab('boot', bystander);
    for (const host of [target, bystander])
      await fleet.until(
        `the device of ${host} to be proven again`,
        async () => ((await identified(fleet, host)) === 'proven' ? true : undefined),
        60_000,
      );
    await allProven(fleet);
  },
};

/** Apart, ms: the second dies while the first is being powered off. */
const APART_MS = 2_000;

export const F28proven: Scenario = {
  name: 'F28.proven',
  title:
    'two hosts whose devices are proven die 2 s apart: nothing is held, and the work of both runs within the minute',
  async run(fleet, say) {
    await allProven(fleet);
    const first = await hostRunning(fleet, 'w1');
    const second = fleet.info.hosts.map((h) => h.name).find((h) => h !== first) ?? '';
    await fleet.lab('workload', 'add', 'f28', '--on', second);
    assert.equal(await hostRunning(fleet, 'f28'), second);
    const work: [string, Death][] = [['w1', await kill(fleet, first)]];
    await pause(APART_MS); // the fault itself
    work.push(['f28', await kill(fleet, second)]);
    for (const [name, death] of work) {
      const run = await startedAfter(fleet, name, death.ns, 60_000);
      say(`${name}: ${death.host} → ${run.host} in ${((run.fromNs - death.ns) / 1e6).toFixed(0)} ms`);
      await fleet.events.incident(death.node, 'recovered', 60_000, death.mark);
      assert.equal(await alarm(fleet, 'collateral', death.node), undefined);
    }
    await fleet.api.put('/v1/workloads/f28', { desired: 'stopped' });
    await fleet.until(
      'f28 to be forgotten',
      async () => ((await fleet.api.exchange('DELETE', '/v1/workloads/f28')).status < 300 ? true : undefined),
      60_000,
    );
  },
};

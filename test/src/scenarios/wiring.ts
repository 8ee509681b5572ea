import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GateResult, NodeView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { alarm, assertNoPowerWrites, hostRunning, nowNs } from '../observations.js';
import type { Scenario } from '../scenario.js';

const proofOf = (n: NodeView): string | undefined => n.powerIdentity?.['bmc']?.result;

async function allProven(fleet: Fleet): Promise<void> {
  await fleet.until(
    'every power device to be proven',
    async () => ((await fleet.nodes()).every((n) => proofOf(n) === 'proven') ? true : undefined),
    30_000,
  );
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
    const password = (await readFile(join(fleet.options.dir, 'run', 'bmc-password'), 'utf8')).trim();
    const withPassword = (n: NodeView): unknown =>
      n.powerLevels.map((level) => level.map(({ secret: _kept, ...device }) => ({ ...device, password })));
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

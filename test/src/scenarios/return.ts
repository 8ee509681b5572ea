import { strict as assert } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FeedEvent } from '../../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNeverTwice, assertNoPowerWrites, assignedTo, hostRunning, nowNs, runningNow } from '../observations.js';
import {
  atGate,
  closeGate,
  completed,
  gated,
  idleWorkers,
  openGate,
  start,
  withoutWork,
  withPlaybook,
} from '../operations.js';
import { checkAfterLoss, findings, onHost, resetupAfter } from '../returns.js';
import type { Scenario } from '../scenario.js';
import { hostNames, lasts, Watch } from '../watch.js';
import { fingerprint, sameFingerprint, type Fingerprint } from '../../../lab/src/fleet/fingerprint.js';

export const R1: Scenario = {
  name: 'R1',
  needsNetns: true,
  title: 'network loss and return, configuration unchanged: the check passes, nothing is touched on the node',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const before = await fingerprint(fleet, host);
    const since = nowNs();
    const mark = fleet.events.mark();
    const { data } = await checkAfterLoss(fleet, host);
    assert.equal(data['pass'], true, JSON.stringify(data));
    await fleet.until(
      'it to be in service',
      async () => ((await fleet.node(host)).inService ? true : undefined),
      20_000,
    );
    const diff = sameFingerprint(before, await fingerprint(fleet, host));
    assert.deepEqual(diff, { files: [], processes: [] });
    await assertNoPowerWrites(fleet, since);
    assert.ok(!fleet.events.seen.slice(mark).some((e) => e.kind === 'resetup'), 'it was set up again');
    say('0 files changed, 0 processes restarted');
  },
};

/** Reboots these hosts at once, and waits until each serves again, nobody having been asked. */
async function reboot(fleet: Fleet, hosts: readonly string[]): Promise<void> {
  const mark = fleet.events.mark();
  await Promise.all(hosts.map((host) => fleet.lab('reboot', host)));
  await Promise.all(hosts.map((host) => fleet.events.inService(fleet.nodeOf(host), 150_000, mark)));
  const asked = fleet.events.seen.slice(mark).filter((e) => e.kind === 'alarm' && e.key === 'drift');
  assert.deepEqual(asked, [], 'an operator was asked');
}

async function runOnce(fleet: Fleet, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await fleet.until(`${name} to run`, () => runningNow(fleet, name), 60_000);
    await assertNeverTwice(fleet, name);
  }
}

export const R16: Scenario = {
  name: 'R16',
  title:
    'hosts with work reboot, two at once and one where there is no room elsewhere: in service again without an operator, each workload once',
  async run(fleet, say) {
    const one = await hostRunning(fleet, 'w1');
    const other = fleet.info.hosts.map((h) => h.name).findLast((h) => h !== one) ?? '';
    await fleet.lab('workload', 'add', 'r16', '--on', other);
    const names = (await fleet.workloads()).filter((w) => w.desired === 'running').map((w) => w.name);
    const since = nowNs();
    await reboot(fleet, [one, other]);
    await runOnce(fleet, names);
    say(`${one} and ${other} in service ${((nowNs() - since) / 1e9).toFixed(1)} s after their reboot`);

    const host = await hostRunning(fleet, 'w1');
    const own = (await assignedTo(fleet, host)).map((w) => w.name);
    const others = fleet.info.hosts.map((h) => fleet.nodeOf(h.name)).filter((n) => n !== fleet.nodeOf(host));
    const again = nowNs();
    for (const node of others) await fleet.api.put(`/v1/nodes/${node}/cordon`, { reason: 'no room elsewhere' });
    await reboot(fleet, [host]);
    await runOnce(fleet, names);
    for (const name of own)
      assert.equal(await hostRunning(fleet, name), host, `${name} found room where there is none`);
    for (const node of others) await fleet.api.request('DELETE', `/v1/nodes/${node}/cordon`);
    say(
      `${host}, without room elsewhere, runs ${own.join(', ')} again after ${((nowNs() - again) / 1e9).toFixed(1)} s`,
    );
    await assertNoPowerWrites(fleet, since);
    await withoutWork(fleet, 'r16');
  },
};

/** Idle workers become masters beside the one that there is. */
async function threeMasters(fleet: Fleet): Promise<string[]> {
  const first = (await fleet.nodes()).find((n) => n.hostGroup === 'service-master');
  const more = (await idleWorkers(fleet)).slice(0, 2);
  const nodes = more.map((h) => fleet.nodeOf(h));
  assert.ok(first !== undefined && nodes.length === 2, 'the fleet has no master, or too few idle workers');
  await completed(fleet, await start(fleet, '/decommission/nodes', { nodes }), 180_000);
  await completed(fleet, await start(fleet, '/commission/nodes', { nodes, host_group: 'service-master' }), 180_000);
  await Promise.all(more.map((h) => fleet.until(`${h} to serve`, () => serves(fleet, h), 60_000)));
  return [fleet.hostOf(first.name), ...more];
}

const serves = async (fleet: Fleet, host: string): Promise<true | undefined> =>
  (await fleet.node(host)).inService || undefined;

/** Of what a master serves: a process that was taken down and set up again is another. */
const served = (fleet: Fleet, host: string): Promise<string> =>
  onHost(fleet, host, 'systemctl show -p MainPID --value muster-mirror.service muster-registry.service');

const editMirror = async (fleet: Fleet, file: string, from: string, to: string): Promise<void> => {
  const path = join(fleet.services, 'mirror', file);
  const text = await readFile(path, 'utf8');
  assert.ok(text.includes(from), `${file} has no ${from}`);
  await writeFile(path, text.replace(from, to));
};

/** They alone lose their management network, at once, and are back; answers the check of each. */
async function blip(fleet: Fleet, hosts: readonly string[], meanwhile: () => Promise<void>): Promise<Checks> {
  const watch = new Watch(fleet);
  const checks = await Promise.all(
    hosts.map((h, i) => checkAfterLoss(fleet, h, i === 0 ? meanwhile : async () => undefined)),
  );
  const others = hostNames(fleet).filter((h) => !hosts.includes(h));
  const degraded = others.filter((h) => watch.verdicts(h).some((e) => e.data['verdict'] === 'DEGRADED'));
  assert.deepEqual(degraded, [], 'they were DEGRADED with the masters, so they return as well');
  return new Map(hosts.map((h, i) => [h, checks[i] as FeedEvent]));
}
type Checks = ReadonlyMap<string, FeedEvent>;

/** Longer than a return waits for its next try, ms: who is to go at the same time has gone by then. */
const NOBODY_FOLLOWS_MS = 5_000;

/** All render the edit: whoever stands in its cleanup stands there alone, and the others serve. */
async function changedOneByOne(fleet: Fleet, masters: readonly string[]): Promise<string[]> {
  const edit = (): Promise<void> => editMirror(fleet, 'defaults.yml', 'cache: 268435456', 'cache: 134217728');
  const order: string[] = [];
  await withPlaybook(fleet, 'cleanup.yml', gated(fleet, 'cleanup.yml'), async () => {
    const checks = await blip(fleet, masters, edit);
    for (const check of checks.values()) assert.deepEqual(Object.keys(findings(check)), ['mirror']);
    while (order.length < masters.length) {
      const waiting = masters.filter((h) => !order.includes(h));
      const before = await Promise.all(waiting.map((h) => served(fleet, h)));
      const standing = (): string[] => masters.filter((h) => atGate(fleet, h) > 0);
      await fleet.until('a cleanup', async () => (standing().length > 0 ? true : undefined), 60_000);
      await lasts(NOBODY_FOLLOWS_MS);
      const [one, ...others] = standing();
      assert.deepEqual(others, [], `they are cleaned up beside ${one}`);
      assert.ok(one !== undefined && waiting.includes(one), `${one} is cleaned up again`);
      assert.deepEqual(await Promise.all(waiting.map((h) => served(fleet, h))), before, 'one of them was taken down');
      order.push(one);
      await openGate(fleet, [one]);
      await resetupAfter(fleet, checks.get(one) as FeedEvent);
    }
  });
  await closeGate(fleet, masters);
  return order;
}

/** One of them renders the edit: the others are looked at, and not touched. */
async function changedAlone(fleet: Fleet, masters: readonly string[]): Promise<void> {
  const [changed, ...same] = masters.toReversed() as [string, ...string[]];
  const only = `(1 if inventory_hostname == '${fleet.nodeOf(changed)}' else 0)`;
  const before = await Promise.all(same.map((h) => fingerprint(fleet, h)));
  const mark = fleet.events.mark();
  const checks = await blip(fleet, masters, () =>
    editMirror(fleet, 'templates/mirror.json.j2', 'muster_mirror_cache | int', `(muster_mirror_cache | int) + ${only}`),
  );
  await resetupAfter(fleet, checks.get(changed) as FeedEvent);
  for (const [i, host] of same.entries()) {
    await fleet.until(`${host} to serve`, () => serves(fleet, host), 60_000);
    assert.equal(checks.get(host)?.data['pass'], true, JSON.stringify(checks.get(host)?.data));
    const diff = sameFingerprint(before[i] as Fingerprint, await fingerprint(fleet, host));
    assert.deepEqual(diff, { files: [], processes: [] }, `${host} was touched`);
  }
  const again = fleet.events.seen.slice(mark).filter((e) => e.kind === 'resetup');
  assert.deepEqual(
    again.map((e) => e.key),
    [fleet.nodeOf(changed)],
  );
}

export const R15: Scenario = {
  name: 'R15',
  needsNetns: true,
  nodes: 5,
  // So that three that are silent are not most: else the network is out, and the workers return with the masters.
  peers: 4,
  title:
    'three masters lose their network together, and the configuration is edited meanwhile: set up again one at a time while the others serve; where one of them renders the edit, nothing is touched on the others',
  async run(fleet, say) {
    const since = nowNs();
    const masters = await threeMasters(fleet);
    const order = await changedOneByOne(fleet, masters);
    say(`one at a time: ${order.join(', ')}`);
    await changedAlone(fleet, masters);
    say('0 files changed, 0 processes restarted on those that render the same');
    await assertNoPowerWrites(fleet, since);
  },
};

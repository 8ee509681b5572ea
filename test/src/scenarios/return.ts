import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, assignedTo, hostRunning, nowNs, runningNow } from '../observations.js';
import { withoutWork } from '../operations.js';
import { checkAfterLoss } from '../returns.js';
import type { Scenario } from '../scenario.js';
import { fingerprint, sameFingerprint } from '../../../lab/src/fleet/fingerprint.js';

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
    assert.equal((await fleet.history(name))?.longestOverlapMs, 0, `${name} ran on two at once`);
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

import { strict as assert } from 'node:assert';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, nowNs } from '../observations.js';
import { completed, start, withoutWork } from '../operations.js';
import { checkAfterLoss, findings, onHost, resetupAfter } from '../returns.js';
import type { Scenario } from '../scenario.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'services', 'etcd');
const PORT = 2379;

const etcdctl = (fleet: Fleet, host: string, words: string): Promise<string> =>
  onHost(fleet, host, `ETCDCTL_API=3 etcdctl --endpoints=127.0.0.1:${PORT} ${words}`);

/** Asked on every host, by a member or a proxy: both members have started and are well, and the key is still there. */
async function agree(fleet: Fleet, members: readonly string[]): Promise<void> {
  for (const { name: host } of fleet.info.hosts) {
    assert.match(await etcdctl(fleet, host, 'get story --print-value-only'), /^kept\s*$/, `${host} has lost the key`);
    // ID, status, name, peer URLs, …
    const listed = (await etcdctl(fleet, host, 'member list')).trim().split('\n');
    const started = listed.map((line) => line.split(', ').slice(1, 3).join(' ')).sort();
    assert.deepEqual(
      started,
      members.map((h) => `started ${fleet.nodeOf(h)}`),
      `members, asked on ${host}`,
    );
  }
  for (const host of members)
    assert.match(await etcdctl(fleet, host, 'endpoint health 2>&1'), /is healthy/, `${host} is no healthy member`);
}

/** A check that an operator asks for: the node stays as it is. */
async function checkNow(fleet: Fleet, host: string): Promise<string> {
  const node = fleet.nodeOf(host);
  const { job } = await fleet.api.post<{ job: string }>('/v1/operations', { kind: 'check', nodes: [node] });
  const { results } = await completed(fleet, await fleet.job(job));
  const found = results[node]?.check?.findings.find((f) => f.service === 'etcd');
  return `${found?.result}: ${found?.why}`;
}

/** Instead of etcd.service, by hand: another program on its port. */
const onItsPort = (fleet: Fleet, host: string, command: string): Promise<string> =>
  onHost(
    fleet,
    host,
    `systemctl stop etcd; setsid ${command} >/dev/null 2>&1 </dev/null & until ss -Hltn 'sport = :${PORT}' | grep -q .; do sleep 0.1; done`,
  );

/** Found when its node returns, and set up again, alone. */
async function repaired(fleet: Fleet, host: string, command: string, why: RegExp): Promise<void> {
  const check = await checkAfterLoss(fleet, host, () => onItsPort(fleet, host, command));
  const found = findings(check);
  assert.deepEqual(Object.keys(found), ['etcd'], JSON.stringify(found));
  assert.match(found['etcd'] ?? '', why);
  assert.deepEqual((await resetupAfter(fleet, check)).services, ['etcd'], 'others were set up with it');
}

export const R14etcd: Scenario = {
  name: 'R14etcd',
  needsNetns: true,
  nodes: 4,
  tools: { names: ['etcd', 'etcdctl'], install: 'npm run setup -- --for long' },
  title:
    'etcd as in the examples, two members and two proxies: a proxy turned member and a member whose client port is taken are named as such and repaired alone; a member that left joins again; etcdctl agrees, and the key is kept',
  async run(fleet, say) {
    const since = nowNs();
    const [one, member, proxy, other] = fleet.info.hosts.map((h) => h.name) as [string, string, string, string];
    const members = [one, member];
    const maintain = async (names: readonly string[], body: Record<string, unknown> = {}): Promise<void> => {
      const job = await start(fleet, '/maintenance/nodes', { nodes: names.map((h) => fleet.nodeOf(h)), ...body });
      await completed(fleet, job, 180_000);
    };
    // Nodes with work on them are not set up again.
    const work = (await fleet.workloads()).map((w) => w.name);
    for (const name of work) await withoutWork(fleet, name);

    await cp(EXAMPLE, join(fleet.services, 'etcd'), { recursive: true });
    // The hosts have the packages of this machine, and no way to more.
    const { extra_vars: globals } = await fleet.api.get<{ extra_vars: Record<string, unknown> }>('/info/globals');
    await fleet.api.post('/globals', { extra_vars: { ...globals, etcd_install: false } });
    await maintain(members, { host_group: 'service-master' });
    await maintain([proxy, other]);
    await etcdctl(fleet, one, 'put story kept');
    await agree(fleet, members);

    await repaired(
      fleet,
      proxy,
      'etcd --data-dir /tmp/by-hand',
      /^broken: a member of etcd runs \(pid \d+\) and must not: this is a proxy; port 2379 is taken by etcd/,
    );
    await agree(fleet, members);

    await onItsPort(fleet, member, `python3 -m http.server ${PORT}`);
    assert.match(await checkNow(fleet, member), /^broken: port 2379 is taken by python3 \(pid \d+\)/);
    await onHost(fleet, member, `pkill -f '[h]ttp.server ${PORT}'`);
    await repaired(
      fleet,
      member,
      `etcd grpc-proxy start --listen-addr 127.0.0.1:${PORT} --endpoints http://${fleet.info.hosts[0]?.networks.management}:${PORT}`,
      /^broken: a proxy of etcd runs \(pid \d+\) and must not: this is a member; port 2379 is taken by etcd/,
    );
    await agree(fleet, members);

    const nodes = [fleet.nodeOf(member)];
    const without = { nodes, extra_vars: { etcd_keep_data: false } };
    await completed(fleet, await start(fleet, '/decommission/nodes', without), 180_000);
    assert.doesNotMatch(await etcdctl(fleet, one, 'member list'), new RegExp(fleet.nodeOf(member)), 'it has not left');
    assert.equal(
      await onHost(fleet, member, 'ls /var/lib/etcd; pgrep -x etcd; ls /etc/systemd/system | grep etcd.service; true'),
      '',
    );
    const again = { nodes, host_group: 'service-master' };
    await completed(fleet, await start(fleet, '/commission/nodes', again), 180_000);
    await agree(fleet, members);
    say(`members ${members.join(', ')}, proxies ${proxy}, ${other}`);

    await assertNoPowerWrites(fleet, since);
    for (const name of work) await fleet.lab('workload', 'add', name, '--on', member);
  },
};

import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { execa } from 'execa';
import { freePort } from '#bus/testing/free-port.js';
import type { NodeView } from '#contracts';
import { assignedTo, hostRunning } from '../observations.js';
import { everything, freeHosts, refused } from '../operations.js';
import type { Scenario } from '../scenario.js';

const DIST = join(import.meta.dirname, '..', '..', '..');

export const O1: Scenario = {
  name: 'O1',
  title: 'every rule of the operations contract refuses in its words, and changes nothing',
  async run(fleet, say) {
    const nodes = await fleet.nodes();
    const master = nodes.find((n) => n.hostGroup === 'service-master')?.name as string;
    const busy = await hostRunning(fleet, 'w1');
    const names = (await assignedTo(fleet, busy)).map((w) => w.name);
    const node = fleet.nodeOf(busy);
    const before = await everything(fleet);
    const transition = (to: string): string =>
      `failed to update ${master}'s state in inventory, Error: transition from "Allocated" to "${to}" is not allowed`;
    const rules: [string, unknown, string | RegExp][] = [
      ['/commission/nodes', { nodes: [] }, 'atleast one node should be specified'],
      ['/commission/nodes', { nodes: ['nobody'] }, 'node with name or address "nobody" doesn\'t exists'],
      ['/commission/nodes', { nodes: [node], host_group: 'foo' }, 'invalid or empty host-group specified: "foo"'],
      ['/commission/nodes', { nodes: [node] }, 'invalid or empty host-group specified: ""'],
      ['/update/nodes', { nodes: [node], host_group: 'bar' }, 'invalid host-group specified: "bar"'],
      [
        '/maintenance/nodes',
        { nodes: [master], host_group: 'service-worker' },
        'Updating these nodes as worker will result in no master node in the cluster, make sure atleast one node is commissioned as master.',
      ],
      [
        '/decommission/nodes',
        { nodes: [master] },
        'decommissioning the specified node(s) will leave only worker nodes in the cluster, make sure all worker nodes are decommissioned before last master node.',
      ],
      ['/commission/nodes', { nodes: [master], host_group: 'service-master' }, transition('Provisioning')],
      [
        '/commission/nodes',
        { nodes: [node], host_group: 'service-worker', extra_vars: 'no json' },
        /^"extra_vars" should be a valid json\. Error: /,
      ],
      ['/decommission/nodes', { nodes: [node] }, new RegExp(names.join('.*'))],
      ['/discover/nodes', { addresses: [] }, 'atleast one address should be specified'],
      ['/discover/nodes', { addresses: ['10.0.0.1', 'not-an-address'] }, /not-an-address/],
      [
        '/discover/nodes',
        { addresses: [nodes[0]?.networks['management']?.address] },
        /^one or more nodes already exist with the specified management addresses\. Existing nodes: \[/,
      ],
      [
        '/monitor/event',
        { monitor_event: { name: 'vanished', nodes: [] } },
        /^Invalid or empty event name specified: /,
      ],
      ['/monitor/event', { monitor_event: { name: 'discovered', nodes: [] } }, 'atleast one node should be specified'],
      ['/config', {}, 'nil value specified for clusterm configuration'],
    ];
    for (const [path, body, text] of rules) await refused(fleet, path, body, text);
    assert.deepEqual(await everything(fleet), before, 'a refused request has changed something');
    say(`${rules.length} refusals`);
  },
};

export const O5: Scenario = {
  name: 'O5',
  title: 'a mixed list, one node in a wrong status: refused, nothing changed',
  async run(fleet) {
    const [free] = await freeHosts(fleet, 1);
    const allocated = fleet.nodeOf(await hostRunning(fleet, 'w1'));
    const before = await everything(fleet);
    const nodes = [fleet.nodeOf(free as string), allocated];
    await refused(fleet, '/commission/nodes', { nodes, host_group: 'service-worker' }, /transition from "Allocated"/);
    // With force, or the workloads on one of them would be what it is refused for.
    const decommission = await fleet.api.exchange('POST', '/v1/operations', {
      kind: 'decommission',
      nodes,
      force: true,
    });
    assert.equal(decommission.status, 409, decommission.text);
    assert.match(decommission.text, /"ILLEGAL_TRANSITION"/);
    assert.deepEqual(await everything(fleet), before, 'a refused request has changed something');
  },
};

export const O10: Scenario = {
  name: 'O10',
  title: 'names, addresses, labels and variables that could become an inventory or a command are refused',
  async run(fleet, say) {
    const odd = ['a\nb', 'a b', 'a=b', '"a', "'a", 'ä', '{{ 1 }}', '../a', '-a', '', '\u0000', 'a;reboot', '$(id)'];
    const before = await everything(fleet);
    const free = await fleet.api.get<NodeView>(`/v1/nodes/${fleet.info.hosts[1]?.node}`);
    for (const text of odd) {
      const create = { label: text, serial: 'S1', networks: { management: { address: '10.9.9.9' } } };
      for (const body of [
        create,
        { ...create, label: 'h', serial: text },
        { ...create, label: 'h', networks: { management: { address: text } } },
        { ...create, label: 'h', networks: { [text]: { address: '10.9.9.9' } } },
      ]) {
        const { status } = await fleet.api.exchange('POST', '/v1/nodes', body);
        assert.equal(status, 400, JSON.stringify(body));
      }
      const event = { name: 'discovered', nodes: [{ label: text, serial: 'S1', addr: '10.9.9.9' }] };
      await refused(fleet, '/monitor/event', { monitor_event: event }, /label must match|control character/);
      const named = { nodes: [free.name], host_group: 'service-worker', extra_vars: { [text]: 1 } };
      await refused(fleet, '/maintenance/nodes', named, /^extra-vars: the variable |control character/);
    }
    assert.deepEqual(await everything(fleet), before, 'one of them has changed something');
    say(`${odd.length} texts in 6 places`);
  },
};

const MANY = 1000;

export const O11: Scenario = {
  name: 'O11',
  title: '1,000 nodes are listed within 200 ms',
  async run(fleet, say) {
    const nodes = Array.from({ length: MANY }, (_, i) => ({
      label: `many${i}`,
      serial: 'X',
      addr: `10.200.${Math.floor(i / 250)}.${(i % 250) + 1}`,
    }));
    const event = async (name: string): Promise<void> => {
      const answer = await fleet.api.exchange('POST', '/monitor/event', { monitor_event: { name, nodes } });
      assert.equal(answer.status, 200, answer.text);
    };
    const before = (await fleet.nodes()).length;
    await event('discovered');
    try {
      await fleet.until(
        'all of them to be known',
        async () => (await fleet.nodes()).length >= MANY || undefined,
        60_000,
      );
      const times: number[] = [];
      for (let i = 0; i < 5; i += 1) {
        const since = performance.now();
        const { items } = await fleet.api.get<{ items: NodeView[] }>('/v1/nodes?limit=1000');
        times.push(performance.now() - since);
        assert.equal(items.length, MANY);
      }
      const median = times.sort((a, b) => a - b)[2] as number;
      say(`${median.toFixed(0)} ms`);
      assert.ok(median < 200, `the list took ${median.toFixed(0)} ms`);
    } finally {
      await event('disappeared');
      const gone = nodes.map((n) => `/v1/nodes/${n.label}-${n.serial}`);
      while (gone.length > 0)
        await Promise.all(gone.splice(0, 50).map((path) => fleet.api.exchange('DELETE', path, undefined, 30_000)));
    }
    assert.equal((await fleet.nodes()).length, before, 'not all of them were forgotten');
  },
};

/** What a process that cannot start says, and how it ends. */
async function failedStart(
  main: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | undefined; lines: string[] }> {
  const { exitCode, stderr } = await execa(process.execPath, [join(DIST, 'apps', main, 'src', 'main.js'), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    extendEnv: false,
    stdio: ['ignore', 'ignore', 'pipe'],
    reject: false,
  });
  return { code: exitCode, lines: stderr.trim().split('\n') };
}

export const O12: Scenario = {
  name: 'O12',
  title: 'a port in use, NATS out of reach, a bad configuration: one clear line, and a non-zero exit',
  async run(fleet) {
    const dir = await mkdtemp(join(tmpdir(), 'muster-o12-'));
    try {
      const port = new URL(fleet.api.base).port;
      const config = join(dir, 'muster.yaml');
      await writeFile(config, 'cluster: x\nnats: { servers: [nats://127.0.0.1:1] }\nhttp: { listn: 1 }\n');
      const away = { MUSTER_NATS: 'nats://127.0.0.1:1', MUSTER_DATA_DIR: dir };
      const [taken, bad, ...unreachable] = await Promise.all([
        failedStart(
          'standalone',
          [
            '--data',
            join(dir, 'data'),
            '--listen',
            `127.0.0.1:${port}`,
            '--nats-listen',
            `127.0.0.1:${await freePort()}`,
          ],
          {},
        ),
        failedStart('gateway', [], { MUSTER_CONFIG: config }),
        failedStart('gateway', [], away),
        failedStart('inventory', [], away),
      ]);
      for (const [what, end, text] of [
        ['a port in use', taken, new RegExp(`127\\.0\\.0\\.1:${port}.*in use`)],
        ['a bad configuration', bad, /listn is not a setting/],
        ...unreachable.map((end) => ['NATS out of reach', end, /no NATS server answered at nats:/] as const),
      ] as const) {
        assert.equal(end.code, 1, `${what}: exit ${end.code}`);
        assert.equal(end.lines.length, 1, `${what}: ${end.lines.join(' | ')}`);
        assert.match(end.lines[0] as string, text);
      }
    } finally {
      await rm(dir, { recursive: true });
    }
  },
};

import { describe, expect, it } from 'vitest';
import { machineOf, MusterError, type NodeRecord, type RpcRequest } from '#contracts';
import { AgentsConfig, NatsConfig } from '#service';
import { node } from '../testing/records.js';
import type { HostFacts } from './host-facts.js';
import { prepareInstall, withNodes, type PreparedInstall } from './prepare-install.js';

type Enrol = RpcRequest<'inventory.agents.enrol'>;

const machineId = '3d1219c7c4c5404aaa1f6d2a48adfda4';

const host = (hostname: string, address: string, o: Partial<HostFacts> = {}): [string, HostFacts] => [
  address,
  {
    hostname,
    productSerial: `SN-${hostname}`,
    machineId: '',
    addresses: [
      { interface: 'eth0', address },
      { interface: 'eth1', address: address.replace('10.0', '10.1') },
    ],
    hostKeys: ['ssh-ed25519 AAAA'],
    agent: null,
    ...o,
  },
];

/** With an inventory that enrols all but those whose label it is told to refuse. */
async function prepare(
  facts: [string, unknown][],
  o: { nodes?: NodeRecord[]; variables?: Record<string, unknown>; refuses?: string } = {},
): Promise<PreparedInstall & { asked: Enrol[] }> {
  const asked: Enrol[] = [];
  const call = (_verb: string, q: Enrol): Promise<unknown> => {
    asked.push(q);
    if (q.label === o.refuses) return Promise.reject(new MusterError('ALREADY_EXISTS', 'it is taken'));
    const name = `${q.label}-${q.serial}`;
    const credentials = { user: `agent=${name}`, seed: 's', jwt: 'j' };
    const { networks } = q;
    return Promise.resolve({ node: name, cluster: 'spec', agentPort: 1, credentials, datagramKeys: ['ab'], networks });
  };
  const agents = Object.assign(new AgentsConfig(), { nats: { management: ['nats://10.0.0.1:4222'] } });
  const prepared = await prepareInstall({
    bus: { call: call as never },
    config: { cluster: 'spec', agents, nats: new NatsConfig() },
    archive: { file: '/a.tar.gz', version: 'v1', sha256: '' },
    job: { by: 'ada' },
    nodes: o.nodes ?? [],
    variables: o.variables ?? {},
    facts: new Map(facts),
  });
  return { ...prepared, asked };
}

describe('before agents are installed', () => {
  it('each host is enrolled as what it says it is, with the networks that a variable names', async () => {
    const variables = { muster_agent_networks: { backend: '10.1.0.0/16' } };
    const { tasks, refused, asked } = await prepare([host('a', '10.0.0.1'), host('b', '10.0.0.2')], { variables });
    expect(refused).toEqual({});
    expect(asked[0]).toEqual({
      by: 'ada',
      label: 'a',
      serial: 'SN-a',
      productSerial: 'SN-a',
      networks: { management: { address: '10.0.0.1' }, backend: { address: '10.1.0.1' } },
      hostKeys: ['ssh-ed25519 AAAA'],
    });
    expect([...tasks].map(([address, t]) => [address, t.node, t.send])).toEqual([
      ['10.0.0.1', 'a-SN-a', true],
      ['10.0.0.2', 'b-SN-b', true],
    ]);
  });

  it('one that is refused, or says nothing clear, does not keep the others', async () => {
    const facts = [host('a', '10.0.0.1'), host('b', '10.0.0.2'), ['10.0.0.3', { hostname: 'c' }]] as [
      string,
      unknown,
    ][];
    const { tasks, refused } = await prepare(facts, { refuses: 'a' });
    expect([...tasks.keys()]).toEqual(['10.0.0.2']);
    expect(refused).toEqual({
      '10.0.0.1': { ok: false, step: 'install', failedTask: 'Enrol', message: 'it is taken', node: 'a-SN-a' },
      '10.0.0.3': expect.objectContaining({ ok: false, message: 'the host did not say clearly what it is' }),
    });
  });

  it('two that answer alike are both left alone: one may be a copy of the other', async () => {
    const { tasks, refused, asked } = await prepare([host('a', '10.0.0.1'), host('a', '10.0.0.2')]);
    expect([tasks.size, asked]).toEqual([0, []]);
    expect(refused['10.0.0.2']?.message).toBe('10.0.0.1 and 10.0.0.2 both answer as a-SN-a: discover one of them');
  });

  it('the node on record at the address keeps its name, whatever its board says; installed by hand, it is only started', async () => {
    const on = node('old-7', { networks: { management: { address: '10.0.0.1' } } });
    const agent = { active: false, node: 'old-7', cluster: 'spec', version: 'v1', byHand: false };
    const again = await prepare([host('a', '10.0.0.1', { agent })], { nodes: [on] });
    expect(again.asked[0]).toMatchObject({ label: 'old', serial: '7', productSerial: 'SN-a' });
    const filler = await prepare([host('a', '10.0.0.1', { agent, productSerial: 'Default string' })], { nodes: [on] });
    expect(filler.asked[0]).not.toHaveProperty('productSerial');
    const image = [host('a', '10.0.0.1', { machineId: 'uninitialized' }), host('b', '10.0.0.2', { machineId })];
    const [fresh, own] = (await prepare(image)).asked;
    expect([fresh?.machine, own?.machine]).toEqual([undefined, machineOf(machineId)]);
    expect(again.tasks.get('10.0.0.1')).toMatchObject({ node: 'old-7', send: false, version: 'v1' });
    const byHand = await prepare([host('a', '10.0.0.1', { agent: { ...agent, byHand: true } })], { nodes: [on] });
    expect(byHand.asked).toEqual([]);
    expect(byHand.tasks.get('10.0.0.1')).toEqual({ node: 'old-7', send: false });
  });

  it('the result of an address names its node', async () => {
    const { tasks } = await prepare([host('a', '10.0.0.1')]);
    const results = { '10.0.0.1': { ok: true, step: 'install' }, '10.0.0.9': { ok: false, step: 'discover' } };
    expect(withNodes(results, tasks)).toEqual({
      '10.0.0.1': { ok: true, step: 'install', node: 'a-SN-a' },
      '10.0.0.9': { ok: false, step: 'discover' },
    });
  });
});

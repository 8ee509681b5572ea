import { describe, expect, it } from 'vitest';
import { agentsNats, identityOf, sameAddress, type AgentEnrolment, type NodeRecord } from '#contracts';
import { node } from '../testing/records.js';
import { agentStep, installTask } from './agent-task.js';
import { readHostFacts, type HostFacts } from './host-facts.js';
import { hostNetworks } from './host-networks.js';

const machineId = '3d1219c7c4c5404aaa1f6d2a48adfda4';
const identity = (o: { hostname?: string; productSerial?: string; machineId?: string }) =>
  identityOf({ hostname: 'host1', productSerial: '', machineId, ...o });

describe('a discovered host is known', () => {
  it('by its own name and the serial number of its mainboard', () => {
    expect(identity({ productSerial: 'CZ3129XW8A\n' })).toEqual({ label: 'host1', serial: 'CZ3129XW8A' });
    expect(identity({ productSerial: 'VMware-56 4d 1c/9e', hostname: 'db_1.example' })).toEqual({
      label: 'db_1.example',
      serial: 'VMware-56-4d-1c-9e',
    });
  });

  it.each([
    '',
    ' ',
    '0',
    '00000000',
    'To be filled by O.E.M.',
    'None',
    'Default string',
    'System Serial Number',
    'xxxx',
  ])('by its machine id, where the maker left %p as the serial number', (productSerial) => {
    expect(identity({ productSerial }).serial).toBe(machineId);
  });

  it('not at all where nothing tells it from others', () => {
    for (const none of ['', 'uninitialized', '0'.repeat(32)])
      expect(() => identity({ machineId: none })).toThrow('neither a serial number nor a valid /etc/machine-id');
    expect(() => identity({ hostname: 'localhost.localdomain' })).toThrow('give it a name of its own first');
    for (const hostname of ['', '(none)', 'localhost', '///'])
      expect(() => identity({ hostname, productSerial: 'SN1' })).toThrow('give it a name');
    expect(identity({ productSerial: '///' }).serial).toBe(machineId);
  });
});

describe('the networks of a discovered host', () => {
  const addresses = [
    { interface: 'lo', address: '127.0.0.1' },
    { interface: 'eth0', address: '10.0.0.11' },
    { interface: 'eth0', address: 'fd00:0:0::11' },
    { interface: 'eth1', address: '10.1.0.11' },
    { interface: 'eth1', address: 'fe80::1' },
    { interface: 'eth2', address: '10.2.0.11' },
    { interface: 'eth2', address: '10.2.0.12' },
  ];
  const of = (wanted: unknown, at = '10.0.0.11') => hostNetworks(at, wanted, addresses);

  it('are management alone, unless a variable names more, by interface or by CIDR', () => {
    const management = { address: '10.0.0.11' };
    expect(of(undefined)).toEqual({ management });
    expect(of({})).toEqual({ management });
    expect(of({ backend: 'eth1' })).toEqual({ management, backend: { address: '10.1.0.11' } });
    expect(of({ backend: '10.1.0.0/16', management: 'ignored' })).toEqual({
      management,
      backend: { address: '10.1.0.11' },
    });
    expect(of({ six: 'fd00::/64' }, '10.0.0.11')).toMatchObject({ six: { address: 'fd00:0:0::11' } });
    expect(of(undefined, 'fd00::11')).toEqual({ management: { address: 'fd00::11' } });
  });

  it('are refused where the host has not exactly one address on each', () => {
    expect(() => of({ backend: 'eth9' })).toThrow('no address of the host on eth9');
    expect(() => of({ backend: '10.2.0.0/24' })).toThrow(
      '2 addresses (10.2.0.11 10.2.0.12) of the host on 10.2.0.0/24',
    );
    expect(() => of(undefined, '10.9.9.9')).toThrow('10.9.9.9 is not an address of the host itself');
    for (const wrong of ['eth1', [], { backend: 7 }, { 'a b': 'eth1' }, { backend: '10.1.0.0/99' }])
      expect(() => of(wrong)).toThrow(/muster_agent_networks maps|is not a network/);
  });

  it('know an address that is written differently', () => {
    expect(sameAddress('fd00::1', 'FD00:0:0::1')).toBe(true);
    expect(sameAddress('fd00::1', 'fd00::2')).toBe(false);
    expect(sameAddress('10.0.0.1', '::ffff:10.0.0.1')).toBe(false);
  });
});

const facts = (o: Partial<HostFacts> = {}): HostFacts => ({
  hostname: 'host1',
  productSerial: 'SN1',
  machineId,
  addresses: [{ interface: 'eth0', address: '10.0.0.11' }],
  hostKeys: ['ssh-ed25519 AAAA'],
  agent: null,
  ...o,
});

const agent = (o: Partial<NonNullable<HostFacts['agent']>> = {}): HostFacts['agent'] => ({
  active: true,
  node: 'host1-SN1',
  cluster: 'spec',
  version: 'v1',
  byHand: false,
  ...o,
});

describe('what is done with a host', () => {
  const on: NodeRecord = node('host1-SN1');

  it('depends on the agent that it has already', () => {
    expect(agentStep(null, 'spec', undefined)).toEqual({ do: 'install' });
    expect(agentStep(null, 'spec', on)).toEqual({ do: 'install' });
    expect(agentStep(agent({ node: null }), 'spec', on)).toEqual({ do: 'install' });
    expect(agentStep(agent(), 'spec', on)).toEqual({ do: 'install', node: on });
    expect(agentStep(agent({ byHand: true }), 'spec', on)).toEqual({ do: 'start', node: on });
    expect(agentStep(agent({ node: 'old-1' }), 'spec', on)).toEqual({ do: 'install' });
  });

  it('is nothing where the agent is of another cluster, or was put there by hand as somebody else', () => {
    expect(() => agentStep(agent({ cluster: 'other' }), 'spec', on)).toThrow('the agent of another cluster (other)');
    expect(() => agentStep(agent({ byHand: true }), 'spec', undefined)).toThrow('installed by hand as host1-SN1');
  });

  const enrolment: AgentEnrolment = {
    node: 'host1-SN1',
    cluster: 'spec',
    agentPort: 7946,
    credentials: { user: 'agent=host1-SN1', seed: 'SU', jwt: 'ey' },
    datagramKeys: ['ab'],
    networks: { management: { address: '10.0.0.11' } },
  };
  const nats = { management: ['nats://10.0.0.1:4222'], backend: ['nats://10.1.0.1:4222'] };

  it('is a configuration for what is on record, and the archive only where its version is another', () => {
    const task = installTask(facts(), enrolment, 'v1', nats);
    expect(task).toEqual({
      node: 'host1-SN1',
      send: true,
      version: 'v1',
      config: {
        node: 'host1-SN1',
        cluster: 'spec',
        networks: { management: { bind: '10.0.0.11' } },
        port: 7946,
        nats: { management: ['nats://10.0.0.1:4222'] },
      },
      credentials: enrolment.credentials,
      datagramKeys: ['ab'],
    });
    expect(installTask(facts({ agent: agent() }), enrolment, 'v1', nats).send).toBe(false);
    expect(installTask(facts({ agent: agent() }), enrolment, 'v2', nats).send).toBe(true);
  });

  it('is refused where its agent could not listen, or could reach nobody', () => {
    const networks = { ...enrolment.networks, backend: { address: '10.1.0.11' } };
    expect(() => installTask(facts(), { ...enrolment, networks }, 'v1', nats)).toThrow(
      'host1-SN1 has 10.1.0.11 on backend, on record, but the host has no such address',
    );
    expect(() => installTask(facts(), enrolment, 'v1', {})).toThrow(
      'does not say where agents on management reach NATS',
    );
  });

  it('goes by where the services reach NATS, unless that is their own loopback', () => {
    expect(agentsNats({}, ['nats://127.0.0.1:4222', 'nats://10.0.0.1:4222'])).toEqual({
      management: ['nats://10.0.0.1:4222'],
    });
    expect(agentsNats({}, ['nats://localhost:4222', 'tls://[::1]:4222'])).toEqual({});
  });
});

describe('what a host says of itself', () => {
  it('is believed as a whole, or not at all', () => {
    expect(readHostFacts(facts({ agent: agent() }))).toEqual(facts({ agent: agent() }));
    expect(readHostFacts({ ...facts(), agent: { active: true } })).toBeUndefined();
    expect(readHostFacts({ ...facts(), addresses: [{}] })).toBeUndefined();
    expect(readHostFacts({ ...facts(), hostname: 7 })).toBeUndefined();
    expect(readHostFacts(undefined)).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { BlockList } from 'node:net';
import { switchPorts } from './faults/switch.js';
import {
  type ControlChoice,
  controlOf,
  controlOfProcess,
  hostOf,
  knownHosts,
  natsProcess,
  natsUrls,
  peerOf,
  planLab,
  serviceProcesses,
  servicesNamed,
  type LabMode,
} from './plan.js';

const modes: LabMode[] = ['netns', 'loopback'];

describe('the plan of a lab', () => {
  it('gives every host addresses, a BMC and names that nothing else in the lab has', () => {
    fc.assert(
      fc.property(fc.constantFrom(...modes), fc.integer({ min: 1, max: 200 }), fc.string(), (mode, nodes, folder) => {
        const plan = planLab(`/${folder}`, mode, nodes);
        const addresses = [
          ...plan.controls.flatMap((c) => Object.values(c.networks)),
          plan.bmcAddress,
          ...plan.hosts.flatMap((h) => Object.values(h.networks)),
        ];
        expect(new Set(addresses).size).toBe(addresses.length);
        expect(addresses.every((a) => a.split('.').every((part) => Number(part) < 255))).toBe(true);
        expect(new Set(plan.hosts.map((h) => h.bmc.port)).size).toBe(nodes);
        expect(new Set(plan.hosts.map((h) => h.node)).size).toBe(nodes);
      }),
    );
  });

  it('is the same each time, so that any command can derive it', () => {
    expect(planLab('/a', 'netns', 3)).toEqual(planLab('/a', 'netns', 3));
  });

  it('shares no namespace with a lab in another folder', () => {
    const names = (folder: string) => Object.values(planLab(folder, 'netns', 1).namespaces ?? {});
    expect(names('/a').filter((n) => names('/b').includes(n))).toEqual([]);
  });

  it('fits the limits of the kernel: 15 characters for an interface', () => {
    for (const h of planLab('/a', 'netns', 200).hosts)
      for (const port of Object.values(h.ports ?? {})) expect(port.length).toBeLessThanOrEqual(15);
  });

  it.each([0, 1.5, 201, NaN])('refuses %p hosts', (n) => {
    expect(() => planLab('/a', 'netns', n)).toThrow('--nodes takes a whole number from 1 to 200');
  });

  it('has bare hosts after the others: Muster is told of none, and knows each by its machine id once it has found it', () => {
    const plan = planLab('/a', 'netns', 2, 2);
    expect(knownHosts(plan).map((h) => h.node)).toEqual(['host1-L1', 'host2-L2']);
    expect(plan.hosts.slice(2).map((h) => h.node)).toEqual(plan.hosts.slice(2).map((h) => `${h.name}-${h.machineId}`));
    expect(new Set(plan.hosts.map((h) => h.machineId)).size).toBe(4);
    expect(plan.hosts.every((h) => /^[0-9a-f]{32}$/.test(h.machineId))).toBe(true);
    expect(planLab('/b', 'netns', 1).hosts[0]?.machineId).not.toBe(plan.hosts[0]?.machineId);
  });

  it('has no bare hosts in loopback mode, and not too many', () => {
    expect(() => planLab('/a', 'loopback', 2, 1)).toThrow('--bare needs root and netns mode');
    expect(() => planLab('/a', 'netns', 199, 2)).toThrow('with --nodes at most 200, not "2"');
    expect(() => planLab('/a', 'netns', 2, -1)).toThrow('--bare takes a whole number');
  });

  it('gives simulated peers addresses of their own, in one range on each network, that no host has', () => {
    const plan = planLab('/a', 'netns', 200, 0, 1000);
    for (const network of ['management', 'backend'] as const) {
      const own = plan.peersAt?.own[network];
      const all = [
        own,
        ...plan.controls.map((c) => c.networks[network]),
        ...plan.hosts.map((h) => h.networks[network]),
        ...plan.peers.map((p) => p.networks[network]),
      ];
      expect(new Set(all).size).toBe(1202);
      const ranges = new BlockList();
      const [base = '', bits] = (plan.peersAt?.ranges[network] ?? '').split('/');
      ranges.addSubnet(base, Number(bits));
      expect(plan.peers.every((p) => ranges.check(p.networks[network]))).toBe(true);
      expect(plan.hosts.some((h) => ranges.check(h.networks[network]))).toBe(false);
    }
    expect(new Set(plan.peers.map((p) => p.node)).size).toBe(1000);
    expect(peerOf(plan, 'peer7')).toBe(peerOf(plan, 'peer7-P7'));
    expect(() => peerOf(plan, 'peer1001')).toThrow('it has peer1 to peer1000');
  });

  it('has ports for the control host, the peers and every host, each of at most 15 characters', () => {
    const ports = switchPorts(planLab('/a', 'netns', 200, 0, 1));
    const all = Object.values(ports).flatMap((p) => Object.values(p));
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((p) => p.length > 15)).toEqual([]);
  });

  it('has no simulated peers in loopback mode, and not too many', () => {
    expect(() => planLab('/a', 'loopback', 2, 0, 1)).toThrow('--peers needs root and netns mode');
    expect(() => planLab('/a', 'netns', 2, 0, 1001)).toThrow('from 0 to 1000, not "1001"');
    expect(planLab('/a', 'netns', 2).namespaces?.peers).toBeUndefined();
  });

  it('knows a host by its name and by its node, and names those that there are', () => {
    const plan = planLab('/a', 'netns', 2);
    expect(hostOf(plan, 'host2')).toBe(hostOf(plan, 'host2-L2'));
    expect(() => hostOf(plan, 'host9')).toThrow('it has host1, host2');
  });
});

describe('the name of a service', () => {
  it('means both processes, or the one that is named, also as Muster names its instance', () => {
    const plan = planLab('/a', 'netns', 1);
    expect(servicesNamed(plan, 'fencer')).toEqual(['fencer.1', 'fencer.2']);
    expect(servicesNamed(plan, 'fencer.2')).toEqual(['fencer.2']);
    expect(servicesNamed(plan, 'fencer-2')).toEqual(['fencer.2']);
    expect(() => servicesNamed(plan, 'fencer.3')).toThrow('there are detector.1');
    expect(serviceProcesses(plan).filter((p) => p.startsWith('gateway'))).toEqual(['gateway.1']);
  });

  it('means one on each of three control hosts, and carries its number', () => {
    const plan = planLab('/a', 'netns', 1, 0, 0, 3);
    expect(servicesNamed(plan, 'fencer')).toEqual(['fencer.1', 'fencer.2', 'fencer.3']);
    expect(servicesNamed(plan, 'gateway-3')).toEqual(['gateway.3']);
    expect(serviceProcesses(plan).map((p) => controlOfProcess(plan, p).n)).toEqual(
      [1, 2, 3].flatMap((n) => Array.from({ length: 5 }, () => n)),
    );
  });
});

describe('three control hosts', () => {
  const plan = planLab('/a', 'netns', 200, 0, 1, 3);

  it('have addresses and cables of their own on every network', () => {
    const addresses = [
      ...plan.controls.flatMap((c) => Object.values(c.networks)),
      plan.bmcAddress,
      ...Object.values(plan.peersAt?.own ?? {}),
      ...plan.hosts.flatMap((h) => Object.values(h.networks)),
    ];
    expect(new Set(addresses).size).toBe(addresses.length);
    const ports = Object.values(switchPorts(plan)).flatMap((p) => Object.values(p));
    expect(new Set(ports).size).toBe(ports.length);
    expect(ports.filter((p) => p.length > 15)).toEqual([]);
    expect(switchPorts(plan).oob).toEqual({ ctl1: 'ctl1-oob', ctl2: 'ctl2-oob', ctl3: 'ctl3-oob', bmc: 'bmc' });
  });

  it('have a NATS server each, of which agents are told over both networks', () => {
    expect(plan.controls.map((c) => natsProcess(plan, c))).toEqual(['nats.1', 'nats.2', 'nats.3']);
    const { management, backend } = natsUrls(plan);
    expect(management).toEqual(plan.controls.map((c) => `nats://${c.networks.management}:4222`));
    expect(backend).toEqual(plan.controls.map((c) => `nats://${c.networks.backend}:4222`));
  });

  it('need networks of their own, and are named where another one is asked for', () => {
    expect(() => planLab('/a', 'loopback', 2, 0, 0, 3)).toThrow('--control 3 needs root and netns mode');
    expect(() => controlOf(plan, 4)).toThrow('it has 1, 2, 3');
  });
});

describe('a Muster that runs already', () => {
  const external: ControlChoice = {
    nats: { management: ['nats://127.0.0.1:4222'], backend: [] },
    http: ['http://127.0.0.1:9007'],
    creds: '/etc/muster',
    cluster: 'demo',
  };

  it('gives the machine itself cables to the hosts in namespaces, and needs none to those on its loopback', () => {
    expect(planLab('/a', 'netns', 2, 0, 0, external).machine?.networks.management).toBe('10.77.1.1');
    const { machine, namespaces, controls, hosts } = planLab('/a', 'loopback', 2, 0, 0, external);
    expect([machine, namespaces, controls]).toEqual([undefined, undefined, []]);
    expect(hosts.map((h) => h.networks.management)).toEqual([
      expect.stringMatching(/^127\./),
      expect.stringMatching(/^127\./),
    ]);
  });
});

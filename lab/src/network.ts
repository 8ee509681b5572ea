import { existsSync, readdirSync } from 'node:fs';
import { MusterError } from '#contracts';
import { run } from './run.js';
import { NETWORKS, type ControlPlan, type HostPlan, type LabPlan, type Network, machineInterface } from './plan.js';

/**
 * Bridges and cables. All of it lives in namespaces that the lab made: the bridges in `sw`, so that the machine's own
 * namespace shows nothing. Cuts happen at the switch; a host's own end of a cable changes by {@link setInterfaces} alone.
 */
export async function buildNetwork(plan: LabPlan): Promise<void> {
  if (plan.namespaces === undefined) return;
  const { sw, bmc, peers } = plan.namespaces;
  await refuseTakenAddresses(plan);
  const controls = plan.controls.flatMap((c) =>
    c.netns === undefined || c.ports === undefined ? [] : [{ ...c, netns: c.netns, ports: c.ports }],
  );
  const hosts = plan.hosts.flatMap((h) =>
    h.netns === undefined || h.ports === undefined ? [] : [{ ...h, netns: h.netns, ports: h.ports }],
  );
  await ipBatch(
    undefined,
    [sw, bmc, ...(peers === undefined ? [] : [peers]), ...[...controls, ...hosts].map((h) => h.netns)].map(
      (ns) => `netns add ${ns}`,
    ),
  );

  const lines = NETWORKS.flatMap((b) => [`link add ${b} type bridge`, `link set ${b} up`]);
  const cable = (port: string, bridge: string, netns: string, name: string): void => {
    lines.push(`link add ${port} type veth peer name ${name} netns ${netns}`, `link set ${port} master ${bridge}`);
  };
  for (const c of controls) for (const network of NETWORKS) cable(c.ports[network], network, c.netns, network);
  cable('bmc', 'oob', bmc, 'oob');
  for (const h of hosts)
    for (const network of ['management', 'backend'] as const) cable(h.ports[network], network, h.netns, network);
  const { machine } = plan;
  if (machine !== undefined)
    for (const network of NETWORKS) {
      cable(machine.ports[network], network, String(process.pid), machine.interfaces[network]);
      lines.push(`link set ${machine.ports[network]} up`);
    }
  for (const port of [...controls.flatMap((c) => Object.values(c.ports)), 'bmc']) lines.push(`link set ${port} up`);
  if (peers !== undefined)
    for (const network of ['management', 'backend'] as const) {
      cable(`peer-${network}`, network, peers, network);
      lines.push(`link set peer-${network} up`);
    }
  await ipBatch(sw, lines);

  const ends = (addresses: Record<string, string>): string[] => [
    'link set lo up',
    ...Object.entries(addresses).flatMap(([name, address]) => [
      `addr add ${address}/24 dev ${name}`,
      `link set ${name} up`,
    ]),
  ];
  await Promise.all(controls.map((c) => ipBatch(c.netns, ends(c.networks))));
  if (machine !== undefined)
    await ipBatch(
      undefined,
      NETWORKS.flatMap((n) => [
        `addr add ${machine.networks[n]}/24 dev ${machine.interfaces[n]}`,
        `link set ${machine.interfaces[n]} up`,
      ]),
    );
  await ipBatch(bmc, ends({ oob: plan.bmcAddress }));
  await Promise.all(hosts.map((h) => ipBatch(h.netns, ends(h.networks))));
  if (peers !== undefined && plan.peersAt !== undefined) {
    const { own, ranges } = plan.peersAt;
    await ipBatch(peers, ends(own));
    await buildPeers(
      peers,
      ranges,
      [...controls, ...hosts].map((h) => h.netns),
    );
  }
}

/**
 * The hosts' own interfaces on these networks, all of them at nearly one moment: with one that is down go its routes, so
 * that every send fails there, where a cable that is cut loses frames and tells nobody. FORBIDDEN in loopback mode
 */
export async function setInterfaces(
  hosts: readonly HostPlan[],
  networks: readonly string[],
  state: 'up' | 'down',
): Promise<void> {
  await Promise.all(
    hosts.map(({ name, netns }) => {
      if (netns === undefined) throw new MusterError('FORBIDDEN', `${name} has no interfaces of its own`);
      return ipBatch(
        netns,
        networks.map((network) => `link set ${network} ${state}`),
      );
    }),
  );
}

/** ALREADY_EXISTS where the machine itself is on another lab's networks: all labs have the same. */
async function refuseTakenAddresses(plan: LabPlan): Promise<void> {
  for (const address of Object.values(plan.machine?.networks ?? {}))
    if ((await run('ip', ['-o', 'address', 'show', 'to', address])) !== '')
      throw new MusterError('ALREADY_EXISTS', `this machine has ${address}: it is on the networks of another lab`);
}

/** Of a control host's cables these carry, the others do not: at the switch, as with {@link HostPlan} hosts. */
export async function setPorts(plan: LabPlan, control: ControlPlan, whole: readonly Network[]): Promise<void> {
  const { ports } = control;
  if (ports === undefined) throw new MusterError('FORBIDDEN', `${control.name} has no cables of its own`);
  await ipBatch(
    plan.namespaces?.sw,
    NETWORKS.map((n) => `link set ${ports[n]} ${whole.includes(n) ? 'up' : 'down'}`),
  );
}

/**
 * One namespace has all addresses of the simulated peers, a range on each network, without an entry for each. The system
 * there says nothing for them: a refused connection would be a sign of life of one that is to be dead.
 */
async function buildPeers(peers: string, ranges: Record<string, string>, others: readonly string[]): Promise<void> {
  const all = Object.entries(ranges);
  await ipBatch(
    peers,
    all.map(([, range]) => `route add local ${range} dev lo`),
  );
  const onLink = all.map(([network, range]) => `route add ${range} dev ${network}`);
  await Promise.all(others.map((ns) => ipBatch(ns, onLink)));
  const silence = [
    'table inet lab {',
    '  chain silence {',
    '    type filter hook input priority 0; policy accept;',
    `    ip daddr { ${Object.values(ranges).join(', ')} } meta l4proto != udp drop`,
    '  }',
    '  chain refusals {',
    '    type filter hook output priority 0; policy accept;',
    '    icmp type destination-unreachable drop',
    '  }',
    '}',
  ];
  await run('ip', ['netns', 'exec', peers, 'nft', '-f', '-'], { input: `${silence.join('\n')}\n` });
}

/** Every namespace whose name carries this lab's id, also of a start that broke off; with it go its cables and bridges. */
export async function removeNetwork(id: string): Promise<void> {
  // The kernel takes its time with those of a namespace that is gone, and their addresses would still be the machine's.
  const own = readdirSync('/sys/class/net').filter((name) => name.startsWith(machineInterface(id, '')));
  if (own.length > 0)
    await ipBatch(
      undefined,
      own.map((name) => `link del ${name}`),
    );
  const mine = labNamespaces(id);
  if (mine.length > 0)
    await ipBatch(
      undefined,
      mine.map((ns) => `netns del ${ns}`),
    );
}

export const labNamespaces = (id: string): string[] =>
  existsSync('/run/netns') ? readdirSync('/run/netns').filter((ns) => ns.startsWith(`muster-${id}-`)) : [];

async function ipBatch(netns: string | undefined, lines: string[]): Promise<void> {
  const where = netns === undefined ? [] : ['-n', netns];
  await run('ip', [...where, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

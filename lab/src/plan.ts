import { createHash } from 'node:crypto';
import { MusterError, nodeName } from '#contracts';
import { hardwareOf, type Hardware } from './hardware.js';

/** `netns`: every host has namespaces of its own (root). `loopback`: a host is a process group on 127.x addresses. */
export type LabMode = 'netns' | 'loopback';

export interface HostPlan {
  /** `host1` …: the name in the lab, the hostname, the label. */
  name: string;
  /** Muster's name of it. */
  node: string;
  serial: string;
  n: number;
  /** Of its installation: no two hosts have the same. */
  machineId: string;
  hardware: Hardware;
  /** It comes without an agent and without a record, for Muster to discover. */
  bare: boolean;
  networks: { management: string; backend: string };
  bmc: { address: string; port: number };
  sshPort: number;
  /** netns: its network namespace, and the ports of the switch that its cables end in. */
  netns?: string;
  ports?: { management: string; backend: string };
}

/** A machine that NATS and the services run on. It is no node. */
export interface ControlPlan {
  /** `ctl`, or `ctl1` … where there are several: the end of its cables. */
  name: string;
  n: number;
  networks: Record<Network, string>;
  /** netns: its network namespace, and the ports of the switches that its cables end in. */
  netns?: string;
  ports?: Record<Network, string>;
}

/** The machine that the lab is on, where it has cables of its own to the lab's networks. */
export interface MachinePlan {
  /** The end of its cables, as of a control host. */
  name: 'ctl';
  networks: Record<Network, string>;
  ports: Record<Network, string>;
  interfaces: Record<Network, string>;
}

/** A Muster that the lab did not start, and takes down with nothing of it. */
export interface ExternalControl {
  /** Servers as the hosts reach them over each network. */
  nats: { management: string[]; backend: string[] };
  /** Of its gateways. */
  http: string[];
  /** Folder that its `muster init` has written. */
  creds: string;
  /** Its name. */
  cluster: string;
  /** File with the token that its gateways want. @default none is sent */
  token?: string;
}

/** How many control hosts the lab has, or where they are otherwise. */
export type ControlChoice = 1 | 3 | ExternalControl;

/** A node that is only a process's word: it has addresses, a socket at each, and nothing else. */
export interface PeerPlan {
  /** `peer1` … */
  name: string;
  node: string;
  serial: string;
  networks: { management: string; backend: string };
}

/** Names and addresses of a whole lab: derived from its folder and size, so that any command can derive them again. */
export interface LabPlan {
  /** Short hash of the folder: labs in different folders share no name and, in loopback mode, no address. */
  id: string;
  mode: LabMode;
  /** netns: the namespaces that are no machine's. `sw` holds the bridges, `bmc` the BMCs, `peers` simulated peers. */
  namespaces?: { sw: string; bmc: string; peers?: string };
  /** Where NATS and the services run: one, three, or none of the lab's own. */
  controls: ControlPlan[];
  external?: ExternalControl;
  /** With `external`, netns: the machine itself, with interfaces of these names on the lab's networks. */
  machine?: MachinePlan;
  /** Of Muster's installation. */
  cluster: string;
  bmcAddress: string;
  natsPort: number;
  hosts: HostPlan[];
  /** Simulated ones, beside the hosts. */
  peers: PeerPlan[];
  /** netns: where the process of the peers itself is, and the ranges that their addresses are from. */
  peersAt?: { own: { management: string; backend: string }; ranges: { management: string; backend: string } };
}

export const NETWORKS = ['management', 'backend', 'oob'] as const;
export type Network = (typeof NETWORKS)[number];

const MAX_HOSTS = 200;
const MAX_PEERS = 1000;
/** Third octets, from which on each of them holds so many peers. A range is a /20. */
const PEER_OCTETS = { management: 16, backend: 32 };
const PEERS_AN_OCTET = 250;
/** netns: of every lab's networks, which exist inside namespaces only. The third octet is the network's. */
const NETNS_OCTETS = '10.77';
/** Of Muster's installation, where the lab makes it. */
const CLUSTER = 'lab';
const NATS_PORT = 4222;
/** Last octets: of the first control host, or of the machine itself, and of two more. */
const CONTROL_OCTETS = [1, 6, 7] as const;
const FIRST_BMC_PORT = 9001;
const LOOPBACK_SSH_PORT = 10_022;

export const labId = (folder: string): string => createHash('sha256').update(folder).digest('hex').slice(0, 6);

/**
 * `nodes` hosts with an agent, and after them `bare` ones without.
 * BAD_REQUEST where that is no number of hosts that a lab can have, FORBIDDEN in loopback mode for bare ones, for
 * simulated peers and for three control hosts
 */
export function planLab(
  folder: string,
  mode: LabMode,
  nodes: number,
  bare = 0,
  peers = 0,
  control: ControlChoice = 1,
): LabPlan {
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > MAX_HOSTS)
    throw new MusterError('BAD_REQUEST', `--nodes takes a whole number from 1 to ${MAX_HOSTS}, not "${nodes}"`);
  if (!Number.isInteger(bare) || bare < 0 || nodes + bare > MAX_HOSTS)
    throw new MusterError(
      'BAD_REQUEST',
      `--bare takes a whole number, with --nodes at most ${MAX_HOSTS}, not "${bare}"`,
    );
  if (bare > 0 && mode === 'loopback')
    throw new MusterError(
      'FORBIDDEN',
      '--bare needs root and netns mode: a loopback host shares its name, its addresses and its sshd port with the machine',
    );
  if (!Number.isInteger(peers) || peers < 0 || peers > MAX_PEERS)
    throw new MusterError('BAD_REQUEST', `--peers takes a whole number from 0 to ${MAX_PEERS}, not "${peers}"`);
  if (peers > 0 && mode === 'loopback')
    throw new MusterError(
      'FORBIDDEN',
      '--peers needs root and netns mode: the loopback answers for addresses where nobody listens, and the dead would live',
    );
  if (control === 3 && mode === 'loopback')
    throw new MusterError('FORBIDDEN', '--control 3 needs root and netns mode: the loopback has but one machine');
  const id = labId(folder);
  const ns = (name: string): string => `muster-${id}-${name}`;
  // 10.77.x.y exists inside namespaces only; 127.x is the machine's own, so each lab takes another second octet.
  const octets = mode === 'netns' ? NETNS_OCTETS : `127.${16 + (parseInt(id, 16) % 200)}`;
  const address = (network: 1 | 2 | 3, n: number): string => `${octets}.${network}.${n}`;
  const bmcAddress = address(3, 2);
  const hosts = Array.from({ length: nodes + bare }, (_, i): HostPlan => {
    const n = i + 1;
    const name = `host${n}`;
    const machineId = createHash('sha256').update(`${folder} ${n}`).digest('hex').slice(0, 32);
    const isBare = n > nodes;
    // Nobody types in the serial number of a bare host: it is found by what the host says of itself.
    const serial = isBare ? machineId : `L${n}`;
    return {
      name,
      node: nodeName(name, serial),
      serial,
      n,
      machineId,
      hardware: hardwareOf(folder, n),
      bare: isBare,
      networks: { management: address(1, 10 + n), backend: address(2, 10 + n) },
      bmc: { address: bmcAddress, port: FIRST_BMC_PORT + i },
      sshPort: mode === 'netns' ? 22 : LOOPBACK_SSH_PORT,
      ...(mode === 'netns' && { netns: ns(name), ports: { management: `m${n}`, backend: `b${n}` } }),
    };
  });
  const addresses = (n: number): Record<Network, string> => ({
    management: address(1, n),
    backend: address(2, n),
    oob: address(3, n),
  });
  const controls = CONTROL_OCTETS.slice(0, typeof control === 'number' ? control : 0).map((last, i): ControlPlan => {
    const name = control === 1 ? 'ctl' : `ctl${i + 1}`;
    return {
      name,
      n: i + 1,
      networks: addresses(last),
      ...(mode === 'netns' && { netns: ns(name), ports: portsOf(name) }),
    };
  });
  return {
    id,
    mode,
    ...(mode === 'netns' && {
      namespaces: { sw: ns('sw'), bmc: ns('bmc'), ...(peers > 0 && { peers: ns('peers') }) },
    }),
    controls,
    ...(typeof control !== 'number' && {
      external: control,
      ...(mode === 'netns' && { machine: planMachine(id, addresses(CONTROL_OCTETS[0])) }),
    }),
    cluster: typeof control === 'number' ? CLUSTER : control.cluster,
    bmcAddress,
    natsPort: NATS_PORT,
    hosts,
    peers: Array.from({ length: peers }, (_, i) => planPeer(octets, i)),
    ...(peers > 0 && {
      peersAt: {
        own: { management: address(1, 5), backend: address(2, 5) },
        ranges: {
          management: `${octets}.${PEER_OCTETS.management}.0/20`,
          backend: `${octets}.${PEER_OCTETS.backend}.0/20`,
        },
      },
    }),
  };
}

const portsOf = (name: string): Record<Network, string> => ({
  management: `${name}-management`,
  backend: `${name}-backend`,
  oob: `${name}-oob`,
});

/** Of all interfaces that a lab gives its machine these names, or none, are the beginning. */
export const machineInterface = (id: string, network: string): string => `l${id}-${network}`;

const planMachine = (id: string, networks: Record<Network, string>): MachinePlan => ({
  name: 'ctl',
  networks,
  ports: portsOf('ctl'),
  interfaces: {
    management: machineInterface(id, 'm'),
    backend: machineInterface(id, 'b'),
    oob: machineInterface(id, 'o'),
  },
});

function planPeer(octets: string, i: number): PeerPlan {
  const [name, serial] = [`peer${i + 1}`, `P${i + 1}`];
  const [third, fourth] = [Math.floor(i / PEERS_AN_OCTET), 1 + (i % PEERS_AN_OCTET)];
  const address = (network: 'management' | 'backend'): string => `${octets}.${PEER_OCTETS[network] + third}.${fourth}`;
  const networks = { management: address('management'), backend: address('backend') };
  return { name, node: nodeName(name, serial), serial, networks };
}

/** Whether it is an address of this network in netns mode. */
export const isOnNetwork = (network: Network, address: string): boolean =>
  address.startsWith(`${NETNS_OCTETS}.${NETWORKS.indexOf(network) + 1}.`);

/** Those that Muster is told of at the start. */
export const knownHosts = (plan: LabPlan): HostPlan[] => plan.hosts.filter((h) => !h.bare);

/** By `host1` or by its node's name. NODE_UNKNOWN names those that there are. */
export function hostOf(plan: LabPlan, name: string): HostPlan {
  const found = plan.hosts.find((h) => h.name === name || h.node === name);
  if (found === undefined)
    throw new MusterError(
      'NODE_UNKNOWN',
      `the lab has no host "${name}"; it has ${plan.hosts.map((h) => h.name).join(', ')}`,
    );
  return found;
}

/** By `peer1` or by its node's name. NODE_UNKNOWN */
export function peerOf(plan: LabPlan, name: string): PeerPlan {
  const found = plan.peers.find((p) => p.name === name || p.node === name);
  if (found !== undefined) return found;
  const there = plan.peers.length === 0 ? 'none: lab up --peers N' : `peer1 to peer${plan.peers.length}`;
  throw new MusterError('NODE_UNKNOWN', `the lab has no simulated peer "${name}"; it has ${there}`);
}

/** BAD_REQUEST names those that there are. */
export function controlOf(plan: LabPlan, n: number): ControlPlan {
  const found = plan.controls.find((c) => c.n === n);
  if (found !== undefined) return found;
  const there = plan.controls.map((c) => c.n).join(', ') || 'none of its own';
  throw new MusterError('BAD_REQUEST', `the lab has no control host "${n}"; it has ${there}`);
}

/** URLs of NATS as reached over each network. One machine's loopback needs but one. */
export function natsUrls(plan: LabPlan): { management: string[]; backend: string[] } {
  if (plan.external !== undefined) return plan.external.nats;
  const over = (network: Network): string[] =>
    plan.controls.map((c) => `nats://${c.networks[network]}:${plan.natsPort}`);
  return { management: over('management'), backend: over(plan.mode === 'netns' ? 'backend' : 'management') };
}

const SERVICES = ['detector', 'inventory', 'provisioner', 'fencer', 'gateway'] as const;

/**
 * Process names. One control host has two of each, and one gateway; three have one of each, with the host's number:
 * `fencer.1` is instance `fencer-1` to Muster.
 */
export function serviceProcesses(plan: Pick<LabPlan, 'controls'>): string[] {
  const several = plan.controls.length > 1;
  const numbers = (service: string): number[] => (service === 'gateway' ? [1] : [1, 2]);
  if (!several) return plan.controls.flatMap(() => SERVICES.flatMap((s) => numbers(s).map((n) => `${s}.${n}`)));
  return plan.controls.flatMap((c) => SERVICES.map((s) => `${s}.${c.n}`));
}

/** Of the NATS server of a control host: `nats`, or `nats.1` … where there are several. */
export const natsProcess = (plan: LabPlan, control: ControlPlan): string =>
  plan.controls.length > 1 ? `nats.${control.n}` : 'nats';

/** Where a service process runs. */
export const controlOfProcess = (plan: LabPlan, name: string): ControlPlan =>
  plan.controls.length > 1 ? controlOf(plan, Number(name.split('.')[1])) : controlOf(plan, 1);

export const instanceOf = (process: string): string => process.replace('.', '-');

/** `fencer` is all of them, `fencer.2` (or `fencer-2`) one. BAD_REQUEST names what there is. */
export function servicesNamed(plan: Pick<LabPlan, 'controls'>, name: string): string[] {
  const all = serviceProcesses(plan);
  const wanted = name.replace(/-(\d+)$/, '.$1');
  const found = all.filter((p) => p === wanted || p.split('.')[0] === wanted);
  if (found.length === 0)
    throw new MusterError('BAD_REQUEST', `no service "${name}"; there are ${all.join(', ') || 'none of its own'}`);
  return found;
}

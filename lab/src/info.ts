import { bmcAlive, powerOf } from './bmc.js';
import { natsConf } from './cluster.js';
import { wrongClocks } from './clock/fake-clock.js';
import { controlState, type ControlState } from './controls/control-state.js';
import { readLeaders, type Leads } from './controls/leaders.js';
import type { SwitchFault } from './faults/switch-fault.js';
import { switchFaults } from './faults/switch.js';
import type { LabFolder } from './folder.js';
import { hostState, type HostState } from './hosts.js';
import { askPeers, PEERS } from './peers/peers-process.js';
import {
  instanceOf,
  natsUrls,
  serviceProcesses,
  type ControlPlan,
  type HostPlan,
  type LabMode,
  type LabPlan,
} from './plan.js';
import { Processes, type ProcessRecord } from './processes.js';

export interface HostInfo extends HostState {
  name: string;
  node: string;
  /** It came without an agent; its node's name is the one that it gets when it is discovered. */
  bare: boolean;
  networks: HostPlan['networks'];
  ssh: { address: string; port: number; key: string; knownHosts: string };
  bmc: { address: string; port: number; alive: boolean; power: 'on' | 'off'; log: string };
  netns?: string;
  /** Logs of its units and of its first process. */
  logs: string;
}

/** One control host, what was done to it, and, where there are several, what it leads. */
export interface ControlInfo extends Partial<Leads>, ControlState {
  name: string;
  n: number;
  networks: ControlPlan['networks'];
  netns?: string;
  /** What its nats-server reads. */
  config: string;
}

export interface LabInfo {
  dir: string;
  id: string;
  mode: LabMode;
  state: string;
  /** Of its gateways: one for each control host. */
  apis: string[];
  /** File with the token that they want. */
  token?: string;
  /** Where NATS and the services run. */
  controls: ControlInfo[];
  namespaces?: NonNullable<LabPlan['namespaces']>;
  nats: { urls: string[] };
  /** muster.yaml, creds/ and keys/ of the cluster. */
  cluster: string;
  ledger: string;
  /** The BMCs' password stands in this file. */
  bmcPassword: string;
  hosts: HostInfo[];
  /** Simulated ones, by their nodes. */
  peers?: { nodes: string[]; dead: string[]; reporting: number; running: boolean };
  /** What the switches do wrong; cables that are cut whole are told with their hosts. */
  faults: SwitchFault[];
  /** Clocks that are wrong, by host (its agent) or process: `+1h`. */
  clocks: Record<string, string>;
  processes: (ProcessRecord & { alive: boolean; instance?: string })[];
}

/** All addresses, pids, ports and files of a lab. */
export async function labInfo(folder: LabFolder): Promise<LabInfo> {
  const record = folder.record();
  const plan = folder.plan();
  const processes = new Processes(folder);
  const hosts = await Promise.all(
    plan.hosts.map(async (h): Promise<HostInfo> => ({
      name: h.name,
      node: h.node,
      bare: h.bare,
      networks: h.networks,
      ...(await hostState(folder, h)),
      ssh: {
        address: h.networks.management,
        port: h.sshPort,
        key: folder.at('ssh', 'id_ed25519'),
        knownHosts: folder.at('ssh', 'known_hosts'),
      },
      bmc: {
        ...h.bmc,
        alive: bmcAlive(processes, h),
        power: powerOf(folder, h),
        log: folder.at('bmc', h.name, 'log.jsonl'),
      },
      ...(h.netns !== undefined && { netns: h.netns }),
      logs: folder.host(h.name, plan.mode === 'netns' ? 'log' : 'root/var/log/units'),
    })),
  );
  return {
    dir: folder.path,
    id: plan.id,
    mode: plan.mode,
    state: record.state,
    apis: folder.apis,
    ...(plan.external?.token !== undefined && { token: plan.external.token }),
    controls: await controlsInfo(folder, plan),
    ...(plan.namespaces && { namespaces: plan.namespaces }),
    nats: { urls: [...new Set(Object.values(natsUrls(plan)).flat())] },
    cluster: folder.at('etc'),
    ledger: folder.at('ledger'),
    bmcPassword: folder.at('run', 'bmc-password'),
    hosts,
    ...(plan.peers.length > 0 && { peers: await peersInfo(folder, plan, processes) }),
    faults: switchFaults(folder),
    clocks: wrongClocks(folder),
    processes: processes
      .all()
      .map((p) => (serviceProcesses(plan).includes(p.name) ? { ...p, instance: instanceOf(p.name) } : p)),
  };
}

async function controlsInfo(folder: LabFolder, plan: LabPlan): Promise<ControlInfo[]> {
  const leads = plan.controls.length > 1 ? await readLeaders(folder, plan) : {};
  return plan.controls.map((c) => ({
    name: c.name,
    n: c.n,
    networks: c.networks,
    ...(c.netns !== undefined && { netns: c.netns }),
    config: natsConf(folder, plan, c),
    ...controlState(folder, c),
    ...leads[c.name],
  }));
}

async function peersInfo(
  folder: LabFolder,
  plan: LabPlan,
  processes: Processes,
): Promise<NonNullable<LabInfo['peers']>> {
  const nodes = plan.peers.map((p) => p.node);
  if (processes.alive(PEERS) === undefined) return { nodes, dead: nodes, reporting: 0, running: false };
  const { dead, reporting } = await askPeers(folder, { state: true });
  return { nodes, dead, reporting, running: true };
}

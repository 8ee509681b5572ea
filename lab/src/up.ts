import { createServer } from 'node:net';
import { MusterError } from '#contracts';
import type { RejoinParts } from './agents/rejoin-parts.js';
import { startBmc, writeBmc } from './bmc.js';
import { initLabCluster, startEveryNats, startForwarder, startServices } from './cluster.js';
import { makeClocks } from './clock/fake-clock.js';
import { clusterNats } from './controls/cluster-nats.js';
import { useExternal } from './controls/external.js';
import { down } from './down.js';
import { Api } from './fleet/api.js';
import { FleetSetup } from './fleet-setup.js';
import type { LabFolder, LabRecord } from './folder.js';
import { refuseOddPaths, writeHostImage } from './host-image.js';
import { bootHost, copyHostPrograms, makeSshKeys, prepareLayers } from './hosts.js';
import { whyNoNamespaces } from './mode.js';
import { buildNetwork } from './network.js';
import { startPeers } from './peers/peers-process.js';
import { writePeersCredentials } from './peers/peers-user.js';
import { knownHosts, planLab, serviceProcesses, type ControlChoice, type LabMode, type LabPlan } from './plan.js';
import { Processes } from './processes.js';
import { bmcPassword } from './secrets.js';
import { missingTools } from './tools.js';

export interface UpOptions {
  nodes: number;
  /** Hosts without an agent, after the others. */
  bare: number;
  mode: LabMode;
  commission: boolean;
  restart?: number;
  fencing: 'observe' | 'enforce';
  /** So many fencings in 10 min, of all hosts and of one; absent: the product's defaults. */
  stormCap?: number;
  /** Failure domains that the hosts are spread over, `room1` …, one after the other. */
  domains: number;
  /** 0: any free one. */
  port: number;
  /** Machines only: no services, nothing registered. */
  hostsOnly: boolean;
  /** Parts of rejoin that are switched in every agent. */
  rejoin: RejoinParts;
  /** Simulated peers beside the hosts. */
  peers: number;
  /** Agents and services go by clocks of their own. */
  faketime: boolean;
  /** Control hosts. */
  control: ControlChoice;
  /** Each of three control hosts keeps its store on a disk of its own, for `power-cut`. */
  storeDisks: boolean;
  /** Private key that the hosts let in, with `.pub` beside it. @default one of the lab's own */
  sshKey?: string;
  /** Folder of the services that the hosts get. @default the lab's own, mirror and registry */
  services?: string;
  say: (line: string) => void;
}

export interface UpAnswer {
  dir: string;
  apis: string[];
  mode: LabMode;
  nodes: string[];
  /** Addresses of hosts that can be discovered. */
  bare: string[];
  seconds: number;
}

/** A whole lab. Where it fails or is broken off, it takes down what it made; logs stay in the folder. */
export async function up(folder: LabFolder, o: UpOptions): Promise<UpAnswer> {
  const began = performance.now();
  const plan = planLab(folder.path, o.mode, o.nodes, o.bare, o.peers, o.control);
  refuseOddPaths();
  refuseWithoutTools(plan);
  if (o.storeDisks) refuseStoreDisks(plan);
  // Told at once, not half way through.
  if (plan.controls.length > 1) clusterNats();
  const [port = 0, ...morePorts] = await freePorts(o.port, plan.controls.length);
  const record: LabRecord = {
    format: 1,
    mode: o.mode,
    nodes: o.nodes,
    ...(o.bare > 0 && { bare: o.bare }),
    ...(o.peers > 0 && { peers: o.peers }),
    port,
    ...(morePorts.length > 0 && { morePorts }),
    ...(o.control !== 1 && { control: o.control }),
    ...(o.storeDisks && { storeDisks: true }),
    ...(o.restart !== undefined && { restart: o.restart }),
    state: 'starting',
    startedAt: Date.now(),
  };
  const processes = new Processes(folder);
  const seconds = (): number => Math.round((performance.now() - began) / 100) / 10;
  const say = (line: string): void => o.say(`${seconds().toFixed(1).padStart(6)} s  ${line}`);
  let steps: Promise<void> | undefined;
  const interrupted = (signal: NodeJS.Signals): void => {
    if (steps === undefined) process.exit(130); // nothing was made yet
    o.say(`${signal}: taking down what was made`);
    void undo(folder, processes, steps).then(
      () => process.exit(130),
      (e: unknown) => {
        o.say(`lab: ${e instanceof Error ? e.message : String(e)}`);
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    folder.begin(record);
    steps = bringUp(folder, plan, record, processes, o, say);
    await steps;
  } catch (e) {
    if (steps === undefined) throw e; // the folder is somebody else's: nothing of it is ours to take down
    // Interrupted: the handler takes everything down, and ends this process.
    if (processes.closed) await new Promise<never>(() => undefined);
    await down(folder, { purge: false });
    throw e;
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
  return {
    dir: folder.path,
    apis: folder.apis,
    mode: o.mode,
    nodes: knownHosts(plan).map((h) => h.node),
    bare: plan.hosts.filter((h) => h.bare).map((h) => h.networks.management),
    seconds: seconds(),
  };
}

/** Steps on their way may start something while `down` looks: nothing new is begun, and it looks again when they have ended. */
async function undo(folder: LabFolder, processes: Processes, steps: Promise<void>): Promise<void> {
  processes.close();
  await down(folder, { purge: false });
  await Promise.race([steps.catch(() => undefined), new Promise((r) => setTimeout(r, 5_000))]);
  await down(folder, { purge: false });
}

async function bringUp(
  folder: LabFolder,
  plan: LabPlan,
  record: LabRecord,
  processes: Processes,
  o: UpOptions,
  say: (line: string) => void,
): Promise<void> {
  copyHostPrograms(folder);
  if (o.faketime) makeClocks(folder, plan);
  if (plan.external === undefined) await initLabCluster(folder, plan, o);
  else await useExternal(folder, plan, plan.external);
  if (plan.peers.length > 0) await writePeersCredentials(folder);
  const [layers] = await Promise.all([
    o.mode === 'netns' ? prepareLayers(folder) : { tmpfs: false },
    makeSshKeys(folder, plan, o.sshKey),
    buildNetwork(plan),
  ]);
  say(
    o.mode === 'netns'
      ? 'networks: management, backend, oob'
      : `addresses ${plan.hosts[0]?.networks.management} and on`,
  );

  const password = bmcPassword(folder);
  if (!o.hostsOnly && plan.external === undefined) {
    await startEveryNats(folder, processes, plan);
    startServices(folder, processes, plan, record);
    for (const control of plan.controls) startForwarder(folder, processes, record, control);
    const all = serviceProcesses(plan).length;
    say(`NATS runs on ${plan.controls.map((c) => c.name).join(', ')}; ${all} processes of Muster are starting`);
  }
  await Promise.all(
    plan.hosts.map(async (h) => {
      writeBmc(folder, plan, h, password);
      writeHostImage(folder, plan, h, { tmpfs: layers.tmpfs, rejoin: o.rejoin });
      await Promise.all([bootHost(folder, h), startBmc(folder, processes, plan, h)]);
    }),
  );
  const without = o.bare > 0 ? `, ${o.bare} of them without an agent` : '';
  say(`${plan.hosts.length} hosts run, each with its BMC${without}`);

  if (!o.hostsOnly) {
    const setup = new FleetSetup(new Api(folder.apis, folder.token), processes, plan, say);
    await setup.ready();
    say(`a gateway answers: ${folder.apis.join(', ')}`);
    await setup.register(folder, plan, password, o.domains);
    say('nodes are registered');
    await setup.discovered(plan);
    say('every node is Discovered');
    if (plan.peers.length > 0) {
      await setup.registerPeers(plan);
      await startPeers(folder, processes, plan);
      await setup.peersDiscovered(plan);
      say(`${plan.peers.length} simulated peers are Discovered`);
    }
    if (o.commission) {
      await setup.commission(plan);
      say('every node is in service');
    }
  }
  folder.write({ ...record, state: 'up' });
}

const HOST_TOOLS = ['ipmi_sim', 'ssh-keygen', 'sshd'];
/** Of the services and NATS. */
const CONTROL_TOOLS = ['nats-server', 'ipmitool', 'ansible-playbook'];

function refuseWithoutTools({ mode, external }: LabPlan): void {
  const why = mode === 'netns' ? whyNoNamespaces() : undefined;
  if (why !== undefined) throw new MusterError('FORBIDDEN', `netns mode: ${why}; use --mode loopback`);
  const missing = missingTools([
    ...HOST_TOOLS,
    ...(external === undefined ? CONTROL_TOOLS : []),
    ...(mode === 'netns' ? ['ip', 'nsenter', 'unshare'] : []),
  ]);
  if (missing.length > 0)
    throw new MusterError('CONFIG_INVALID', `missing: ${missing.join(', ')}; install them with: npm run setup`);
}

function refuseStoreDisks(plan: LabPlan): void {
  if (plan.controls.length < 2) throw new MusterError('BAD_REQUEST', '--store-disks goes with --control 3');
  const missing = missingTools(['mkfs.xfs', 'mkfs.ext4']);
  if (missing.length > 0)
    throw new MusterError(
      'CONFIG_INVALID',
      `missing: ${missing.join(', ')}; packages xfsprogs and e2fsprogs bring them`,
    );
}

/** The next ones from this on, or any free ones for 0. CONFIG_INVALID where one is taken. */
async function freePorts(first: number, count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let i = 0; i < count; i += 1) ports.push(await freePort(first === 0 ? 0 : first + i));
  return ports;
}

/** CONFIG_INVALID where the port is taken. */
function freePort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (cause) =>
      reject(
        new MusterError(
          'CONFIG_INVALID',
          `port ${port} on 127.0.0.1 is in use; choose another with --port`,
          {},
          { cause },
        ),
      ),
    );
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

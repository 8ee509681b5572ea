import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { MusterError } from '#contracts';
import { startBmc, writeBmc } from './bmc.js';
import { initLabCluster, startForwarder, startNats, startServices } from './cluster.js';
import { down } from './down.js';
import { Api } from './fleet/api.js';
import { FleetSetup } from './fleet-setup.js';
import type { LabFolder, LabRecord } from './folder.js';
import { writeHostImage } from './host-image.js';
import { bootHost, copyHostPrograms, makeSshKeys, prepareLayers } from './hosts.js';
import { buildNetwork } from './network.js';
import { planLab, type LabMode } from './plan.js';
import { Processes } from './processes.js';
import { bmcPassword } from './secrets.js';

export interface UpOptions {
  nodes: number;
  mode: LabMode;
  commission: boolean;
  restart?: number;
  fencing: 'observe' | 'enforce';
  /** 0: any free one. */
  port: number;
  /** Machines only: no services, nothing registered. */
  hostsOnly: boolean;
  say: (line: string) => void;
}

export interface UpAnswer {
  dir: string;
  api: string;
  mode: LabMode;
  nodes: string[];
  seconds: number;
}

/** A whole lab. Where it fails or is broken off, it takes down what it made. */
export async function up(folder: LabFolder, o: UpOptions): Promise<UpAnswer> {
  const began = performance.now();
  const plan = planLab(folder.path, o.mode, o.nodes);
  refuseWithoutTools(o.mode);
  const record: LabRecord = {
    format: 1,
    mode: o.mode,
    nodes: o.nodes,
    port: await freePort(o.port),
    ...(o.restart !== undefined && { restart: o.restart }),
    state: 'starting',
    startedAt: Date.now(),
  };
  folder.begin(record);
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const say = (line: string): void => o.say(`${seconds().padStart(7)}  ${line}`);
  const undo = undoWhenBroken(folder, o.say);
  try {
    const processes = new Processes(folder);
    copyHostPrograms(folder);
    initLabCluster(folder, plan, o.fencing);
    const [layers] = await Promise.all([
      o.mode === 'netns' ? prepareLayers(folder) : { tmpfs: false },
      makeSshKeys(folder, plan),
      buildNetwork(plan),
    ]);
    if (layers.tmpfs) folder.write(Object.assign(record, { tmpfs: true }));
    say(o.mode === 'netns' ? 'networks: management, backend, oob' : `addresses ${plan.control.management} and on`);

    const password = bmcPassword(folder);
    if (!o.hostsOnly) {
      await startNats(folder, processes, plan);
      startServices(folder, processes, plan, record);
      startForwarder(folder, processes, plan, record.port);
      say('NATS runs; two each of detector, inventory, provisioner, fencer and a gateway are starting');
    }
    await Promise.all(
      plan.hosts.map(async (h) => {
        writeBmc(folder, h, password);
        writeHostImage(folder, plan, h, layers.tmpfs);
        await Promise.all([bootHost(folder, h), startBmc(folder, processes, plan, h)]);
      }),
    );
    say(`${plan.hosts.length} hosts run, each with its BMC`);

    if (!o.hostsOnly) {
      const setup = new FleetSetup(new Api(folder.api), processes, say);
      await setup.ready();
      say(`gateway answers on ${folder.api}`);
      await setup.register(folder, plan, password);
      say('nodes are registered');
      await setup.discovered(plan);
      say('every node is Discovered');
      if (o.commission) {
        await setup.commission(plan);
        say('every node is in service');
      }
    }
    folder.write({ ...record, state: 'up' });
    undo.settle();
  } catch (e) {
    await undo.now();
    throw e;
  }
  return {
    dir: folder.path,
    api: folder.api,
    mode: o.mode,
    nodes: plan.hosts.map((h) => h.node),
    seconds: Math.round((performance.now() - began) / 100) / 10,
  };
}

/** Ctrl-C half way, or a failure: nothing is left running. Logs stay in the folder. */
function undoWhenBroken(folder: LabFolder, say: (line: string) => void): { settle(): void; now(): Promise<void> } {
  const broken = (signal: NodeJS.Signals): void => {
    say(`${signal}: taking down what was made`);
    down(folder, { purge: false }).then(
      () => process.exit(130),
      (e: unknown) => {
        say(`lab: ${e instanceof Error ? e.message : String(e)}`);
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', broken).once('SIGTERM', broken);
  const settle = (): void => void process.off('SIGINT', broken).off('SIGTERM', broken);
  return {
    settle,
    now: async () => {
      settle();
      await down(folder, { purge: false });
    },
  };
}

const TOOLS = ['nats-server', 'ipmitool', 'ipmi_sim', 'ansible-playbook', 'ssh-keygen', 'sshd'];
const PLACES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

function refuseWithoutTools(mode: LabMode): void {
  if (mode === 'netns' && process.getuid?.() !== 0)
    throw new MusterError('FORBIDDEN', 'netns mode needs root; without it use --mode loopback');
  const there = (tool: string): boolean =>
    PLACES.some((place) => {
      try {
        accessSync(`${place}/${tool}`, constants.X_OK);
        return true;
      } catch {
        return false; // not in this place
      }
    });
  const missing = [...TOOLS, ...(mode === 'netns' ? ['ip', 'nsenter', 'unshare'] : [])].filter((t) => !there(t));
  if (missing.length > 0)
    throw new MusterError('CONFIG_INVALID', `missing: ${missing.join(', ')}; install them with: npm run setup`);
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

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import type { Closable } from '#bus';
import { MusterError, nodeName, type RunningWorkload, type ServiceName } from '#contracts';
import { run } from '../../../lab/src/run.js';
import { issuePeersCredentials } from '../../../lab/src/peers/peers-user.js';
import { PORT, register, SERIAL } from './agent-fleet.js';
import type { Deed, DeedAnswer } from './reporters.js';
import { CLUSTER, ControlPlane } from '../control-plane.js';
import { standInWorker } from '../worker-stand-in.js';
import type { MortalFleet } from './kills.js';
import { Watch } from './watch.js';
import { NETWORKS } from './wires.js';

const START_MS = 120_000;
/** Inventory has nothing to write where it takes less than this share of a core for so many seconds. */
const SETTLED = 0.2;
const SETTLED_S = 5;
/** Addresses that are all this machine's: the simulated nodes answer there. */
const RANGES = { management: '10.78', backend: '10.79' } as const;

interface SimulatedNode {
  name: string;
}

export interface ManyOptions {
  /** @default one each of inventory, detector and gateway */
  services?: readonly ServiceName[];
  /** What a node's reports say runs there. @default they do not tell */
  runs?: (node: string) => RunningWorkload[];
  /** Services have metrics of their own. @default false */
  metrics?: boolean;
}

const startReporters = () =>
  execa(process.execPath, [...process.execArgv, join(import.meta.dirname, 'reporters.js')], {
    ipc: true,
    stdio: 'inherit',
    buffer: false,
    reject: false,
  });
type Reporters = ReturnType<typeof startReporters>;

/** Many simulated reporters, and the same control machine as of real agents. */
export class ManyFleet implements MortalFleet<SimulatedNode> {
  private deeds = 0;

  private constructor(
    readonly plane: ControlPlane,
    readonly watch: Watch,
    readonly nodes: readonly SimulatedNode[],
    private readonly reporters: Reporters,
    private readonly worker: Closable,
  ) {}

  /** Resolves when all are UP. */
  static async start(count: number, o: ManyOptions = {}): Promise<ManyFleet> {
    for (const range of Object.values(RANGES))
      await run('ip', ['route', 'add', 'local', `${range}.0.0/16`, 'dev', 'lo']);
    const address = (range: string, i: number): string => `${range}.${Math.floor(i / 250)}.${(i % 250) + 1}`;
    const all = Array.from({ length: count }, (_, i) => ({
      label: `sim${i + 1}`,
      addresses: Object.fromEntries(NETWORKS.map((n) => [n, address(RANGES[n], i)])),
    }));
    const peers = all.map(({ label, addresses }) => ({ name: nodeName(label, SERIAL), networks: addresses }));
    const { services = ['inventory', 'detector', 'gateway'], metrics = false, runs } = o;
    const workloads = runs && Object.fromEntries(peers.map(({ name }) => [name, runs(name)]));
    const plane = await ControlPlane.start(services, { metrics });
    const worker = await standInWorker(await plane.bus('provisioner'));
    const reporters = startReporters();
    const fleet = new ManyFleet(plane, new Watch({ tools: await plane.bus('tools') }), peers, reporters, worker);
    try {
      await register(plane.api, all);
      const credentials = await issuePeersCredentials(plane.operatorKey);
      const server = `nats://127.0.0.1:${plane.natsPort}`;
      const shared = { cluster: CLUSTER, keyFile: plane.datagramKeys, port: PORT, ...(workloads && { workloads }) };
      await fleet.tell({ verb: 'start', plan: { ...shared, peers, server, credentials } });
      await fleet.whole();
      return fleet;
    } catch (e) {
      await fleet.stop();
      throw e;
    }
  }

  async whole(): Promise<void> {
    await this.watch.until('all simulated nodes to be UP', START_MS, () =>
      this.nodes.every(({ name }) => this.watch.verdictOf(name) === 'UP') ? true : undefined,
    );
  }

  die({ name }: SimulatedNode): Promise<void> {
    return this.tell({ verb: 'kill', name });
  }

  rise({ name }: SimulatedNode): Promise<void> {
    return this.tell({ verb: 'boot', name });
  }

  /** Shares of a core that each process takes, over so many seconds. */
  async cpu(seconds: number): Promise<Map<string, number>> {
    const [before, began] = [this.plane.cpuMs(), performance.now()];
    await pause(seconds * 1000);
    const ms = performance.now() - began;
    return new Map([...this.plane.cpuMs()].map(([name, used]) => [name, (used - (before.get(name) ?? 0)) / ms]));
  }

  /** Resolves when inventory has written down who is there: for half a minute after a fleet's birth every verdict is new. */
  async settle(): Promise<void> {
    const end = performance.now() + START_MS;
    let share: number;
    do {
      share = (await this.cpu(SETTLED_S)).get('inventory-0') ?? NaN;
      if (share < SETTLED) return;
    } while (performance.now() < end);
    throw new MusterError('TIMEOUT', `inventory still takes ${(share * 100).toFixed(0)} % of a core`);
  }

  async stop(): Promise<void> {
    this.reporters.kill('SIGKILL');
    await this.reporters;
    await this.worker.close();
    await this.plane.stop();
    for (const range of Object.values(RANGES))
      await run('ip', ['route', 'del', 'local', `${range}.0.0/16`, 'dev', 'lo']);
  }

  private async tell(
    what: Omit<Extract<Deed, { verb: 'start' }>, 'id'> | Omit<Extract<Deed, { name: string }>, 'id'>,
  ): Promise<void> {
    const id = ++this.deeds;
    const [answer] = await Promise.all([
      this.reporters.getOneMessage({ filter: (message) => (message as DeedAnswer).id === id }),
      this.reporters.sendMessage({ id, ...what } satisfies Deed),
    ]);
    const { failed } = answer as DeedAnswer;
    if (failed !== undefined) throw new MusterError('COMMAND_FAILED', `the simulated reporters: ${failed}`);
  }
}

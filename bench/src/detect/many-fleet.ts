import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { Closable } from '#bus';
import { MusterError, WatchPlan } from '#contracts';
import { run } from '../../../lab/src/run.js';
import { register, SERIAL } from './agent-fleet.js';
import { ControlPlane } from '../control-plane.js';
import { standInWorker } from '../worker-stand-in.js';
import type { MortalFleet } from './kills.js';
import { Watch } from './watch.js';
import { NETWORKS } from './wires.js';

const START_MS = 120_000;
/** Where the simulated nodes seem to be: whatever is sent there is gone. */
const VOID = { interface: 'void', prefix: { management: '10.78', backend: '10.79' } } as const;

export interface ReporterPlan {
  nats: string;
  /** Folder of `agent=<node>.json`. */
  credentials: string;
  networks: string[];
  nodes: { name: string; peers: string[] }[];
}

/** What the process of the reporters is told; it answers with the id, and what failed. */
export type Deed = { id: number } & ({ verb: 'start'; plan: ReporterPlan } | { verb: 'die' | 'rise'; name: string });

interface SimulatedNode {
  name: string;
}

/** A cable at whose other end nobody has these addresses: whatever is sent is neither answered nor refused. */
async function makeVoid(): Promise<void> {
  const { interface: name, prefix } = VOID;
  const lines = [
    `link add ${name} type veth peer name ${name}-end`,
    `link set ${name}-end up`,
    `link set ${name} arp off up`,
    ...Object.values(prefix).map((p) => `addr add ${p}.255.254/16 dev ${name}`),
  ];
  await run('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** Many simulated reporters, and the same control machine as of real agents. */
export class ManyFleet implements MortalFleet<SimulatedNode> {
  private deeds = 0;

  private constructor(
    readonly plane: ControlPlane,
    readonly watch: Watch,
    readonly nodes: readonly SimulatedNode[],
    private readonly reporters: ChildProcess,
    private readonly worker: Closable,
  ) {}

  /** Resolves when all are UP. */
  static async start(count: number): Promise<ManyFleet> {
    await makeVoid();
    const labels = Array.from({ length: count }, (_, i) => `sim${i + 1}`);
    const names = labels.map((label) => `${label}-${SERIAL}`);
    const plane = await ControlPlane.start(['inventory', 'detector', 'gateway'], { agents: names });
    const worker = await standInWorker(await plane.bus('provisioner'));
    const reporters = fork(join(import.meta.dirname, 'reporters.js'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const watch = new Watch({ tools: await plane.bus('tools') });
    const nodes = names.map((name) => ({ name }));
    const fleet = new ManyFleet(plane, watch, nodes, reporters, worker);
    try {
      const address = (prefix: string, i: number): string => `${prefix}.${Math.floor(i / 250)}.${(i % 250) + 1}`;
      await register(
        plane.api,
        labels.map((label, i) => ({
          label,
          addresses: Object.fromEntries(NETWORKS.map((n) => [n, address(VOID.prefix[n], i)])),
        })),
      );
      // As inventory plans it, by the same code.
      const plan = new WatchPlan(names.map((name) => ({ name, member: true })));
      await fleet.tell({
        verb: 'start',
        plan: {
          nats: `nats://127.0.0.1:${plane.natsPort}`,
          credentials: dirname(plane.credentials('tools')),
          networks: [...NETWORKS].sort(),
          nodes: names.map((name) => ({ name, peers: [...plan.peersOf(name)] })),
        },
      });
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
    return this.tell({ verb: 'die', name });
  }

  rise({ name }: SimulatedNode): Promise<void> {
    return this.tell({ verb: 'rise', name });
  }

  /** Shares of a core that each process takes, over so many seconds. */
  async cpu(seconds: number): Promise<Map<string, number>> {
    const [before, began] = [this.plane.cpuMs(), performance.now()];
    await pause(seconds * 1000);
    const ms = performance.now() - began;
    return new Map([...this.plane.cpuMs()].map(([name, used]) => [name, (used - (before.get(name) ?? 0)) / ms]));
  }

  async stop(): Promise<void> {
    if (this.reporters.exitCode === null && this.reporters.signalCode === null) {
      const ended = once(this.reporters, 'exit');
      this.reporters.kill('SIGKILL');
      await ended;
    }
    await this.worker.close();
    await this.plane.stop();
    await run('ip', ['link', 'del', VOID.interface]);
  }

  private async tell(
    what: { verb: 'start'; plan: ReporterPlan } | { verb: 'die' | 'rise'; name: string },
  ): Promise<void> {
    const id = ++this.deeds;
    const done = new Promise<void>((resolve, reject) => {
      const hear = (answer: { id: number; failed?: string }): void => {
        if (answer.id !== id) return;
        this.reporters.off('message', hear);
        if (answer.failed === undefined) resolve();
        else reject(new MusterError('COMMAND_FAILED', `the simulated reporters: ${answer.failed}`));
      };
      this.reporters.on('message', hear);
    });
    this.reporters.send({ id, ...what } satisfies Deed);
    await done;
  }
}

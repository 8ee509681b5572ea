import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Closable } from '#bus';
import { loggedDaemon, type Daemon } from '#bus/testing/daemon.js';
import type { DetectionSettings } from '#contracts';
import { Api } from '../../../lab/src/fleet/api.js';
import { until } from '../../../lab/src/until.js';
import { standInWorker } from '../worker-stand-in.js';
import { CLUSTER, ControlPlane } from '../control-plane.js';
import { killAndWait, losePower } from './kill-and-wait.js';
import { Watch } from './watch.js';
import { CONTROL, NETWORKS, on, plug, unplug, type Host } from './wires.js';

const AGENT = join(import.meta.dirname, '..', '..', '..', 'apps', 'agent', 'src', 'main.js');
export const PORT = 7946;
export const SERIAL = 'B';
const START_MS = 180_000;

export interface BenchNode {
  name: string;
  host: Host;
}

/** Real agents, each on a host of its own, and a control machine with a real nats-server, inventory, detector, gateway. */
export class AgentFleet {
  private readonly agents = new Map<string, Daemon>();

  private constructor(
    readonly plane: ControlPlane,
    readonly watch: Watch,
    readonly nodes: readonly BenchNode[],
    private readonly worker: Closable,
  ) {}

  /** Resolves when everybody hears everybody. */
  static async start(hosts: readonly Host[]): Promise<AgentFleet> {
    const nodes = hosts.map((host): BenchNode => ({ name: `node${host.n}-${SERIAL}`, host }));
    const agents = nodes.map(({ name }) => name);
    const plane = await ControlPlane.start(['inventory', 'detector', 'gateway'], {
      agents,
      addresses: Object.values(CONTROL),
    });
    const worker = await standInWorker(await plane.bus('provisioner'));
    const watch = new Watch({ tools: await plane.bus('tools'), inventory: await plane.bus('inventory') });
    const fleet = new AgentFleet(plane, watch, nodes, worker);
    try {
      await register(
        plane.api,
        nodes.map(({ host }) => ({ label: `node${host.n}`, addresses: host.addresses })),
      );
      for (const node of nodes) fleet.boot(node);
      await fleet.whole();
      return fleet;
    } catch (e) {
      await fleet.stop();
      throw e;
    }
  }

  /** Every agent reports that it hears every other one on every network, and every node is UP. */
  async whole(limitMs = START_MS): Promise<void> {
    const hears = (name: string): boolean => {
      const report = this.watch.reportOf(name);
      return (
        report !== undefined &&
        !report.health.abstain &&
        report.peers.length === this.nodes.length - 1 &&
        report.peers.every(([, links]) => links.every(([misses, rttUs]) => misses === 0 && rttUs >= 0))
      );
    };
    await this.watch.until('all nodes to be UP and to hear each other', limitMs, () =>
      this.nodes.every(({ name }) => this.watch.verdictOf(name) === 'UP' && hears(name)) ? true : undefined,
    );
  }

  /** Loses its power. */
  async die({ name, host }: BenchNode): Promise<void> {
    await losePower(this.take(name), () => unplug(host));
  }

  /** Is powered on again, with another boot id. */
  async rise(node: BenchNode): Promise<void> {
    await plug(node.host);
    this.boot(node);
  }

  /** At run time, as an operator does it: resolves when every agent has the new numbers. */
  async change(detection: Partial<DetectionSettings>): Promise<void> {
    const before = Math.max(...this.nodes.map(({ name }) => this.watch.reportOf(name)?.listVersion ?? 0));
    await new Api(this.plane.api).request('PATCH', '/v1/settings', { detection });
    await this.watch.until('the agents to have the new settings', START_MS, () =>
      this.nodes.every(({ name }) => (this.watch.reportOf(name)?.listVersion ?? 0) > before) ? true : undefined,
    );
    await this.whole();
  }

  get pids(): number[] {
    return [...this.agents.values()].flatMap(({ pid }) => pid ?? []);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ name }) => this.kill(name)));
    await this.worker.close();
    await this.plane.stop();
  }

  private boot({ name, host }: BenchNode): void {
    const dir = join(this.plane.dir, 'hosts', name);
    mkdirSync(dir, { recursive: true });
    const config = {
      node: name,
      cluster: CLUSTER,
      networks: Object.fromEntries(NETWORKS.map((network) => [network, { bind: host.addresses[network] }])),
      port: PORT,
      nats: Object.fromEntries(NETWORKS.map((n) => [n, [`nats://${CONTROL[n]}:${this.plane.natsPort}`]])),
      credentials: this.plane.credentials(`agent=${name}`),
      keys: this.plane.datagramKeys,
      stateDir: join(dir, 'state'),
      socket: join(dir, 'agent.sock'),
      bootIdFile: join(dir, 'boot_id'),
    };
    writeFileSync(join(dir, 'agent.json'), JSON.stringify(config));
    writeFileSync(join(dir, 'boot_id'), `${randomUUID()}\n`);
    const [command, args] = on(host, process.execPath, AGENT, '--config', join(dir, 'agent.json'));
    const env = { PATH: process.env['PATH'], MUSTER_ROOT: dir };
    this.agents.set(name, loggedDaemon(command, args, join(dir, 'agent.log'), { env }));
  }

  private async kill(name: string): Promise<void> {
    const agent = this.take(name);
    if (agent !== undefined) await killAndWait(agent);
  }

  /** Whoever takes it ends it. */
  private take(name: string): Daemon | undefined {
    const agent = this.agents.get(name);
    this.agents.delete(name);
    return agent;
  }
}

/** All in one request, as from a file of an operator. */
export async function register(
  api: string,
  nodes: readonly { label: string; addresses: Record<string, string> }[],
): Promise<void> {
  const content = JSON.stringify({
    nodes: nodes.map(({ label, addresses }) => ({
      label,
      serial: SERIAL,
      networks: Object.fromEntries(Object.entries(addresses).map(([n, address]) => [n, { address }])),
      provisionDriver: 'ansible',
    })),
  });
  // Refused until inventory knows of the stand-in that offers the driver.
  await until('the nodes to be registered', START_MS, async () => {
    await new Api(api).request('POST', '/v1/nodes/import', { format: 'yaml', content }, START_MS);
    return true;
  });
}

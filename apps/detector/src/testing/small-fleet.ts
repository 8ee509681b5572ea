import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectBus, credentialsFile, readCredentials, type Bus } from '#bus';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  defaultSettings,
  fromToken,
  Subjects,
  type ClusterSettings,
  type Peer,
  type PeerList,
  type Verdict,
} from '#contracts';
import { CLUSTER, register } from './played-fleet.js';

const agentMain = fileURLToPath(new URL('../../../../dist/apps/agent/src/main.js', import.meta.url));

/** Real agents on 127.x addresses, a real nats-server with users, and what inventory does for them. */
export class SmallFleet {
  readonly verdicts: Verdict[] = [];
  readonly agents = new Map<string, Daemon>();
  private readonly waiting = new Set<() => void>();

  private constructor(
    readonly nats: TestNats,
    readonly inventory: Bus,
    readonly names: readonly string[],
    readonly settings: ClusterSettings,
    private readonly subnet: number,
  ) {}

  static async start(names: readonly string[]): Promise<SmallFleet> {
    const nats = await startTestNats({ users: true, agents: [...names] });
    const credentials = readCredentials(credentialsFile(nats.dir, 'inventory'));
    const inventory = await connectBus({ name: 'inventory-spec', servers: [nats.url], credentials });
    const settings = { ...defaultSettings(CLUSTER), agentPort: 20_000 + (process.pid % 10_000) };
    const fleet = new SmallFleet(nats, inventory, names, settings, 10 + (process.pid % 200));
    await register(inventory, settings, Object.fromEntries(names.map((name) => [name, fleet.addresses(name)])));
    inventory.answer<unknown, PeerList>(Subjects.peers('*'), (_q, subject) =>
      fleet.peersOf(fromToken(subject.split('.').at(-1) as string)),
    );
    inventory.follow(['muster.verdict.>'], {}, (_subject, value) => {
      fleet.verdicts.push(value as Verdict);
      for (const check of fleet.waiting) check();
    });
    return fleet;
  }

  /** Resolves as soon as the last verdict on each of these nodes is as wanted. */
  async until(wanted: Record<string, Verdict['verdict']>, limitMs: number): Promise<void> {
    const met = (): boolean =>
      Object.entries(wanted).every(([node, v]) => this.verdicts.findLast((x) => x.node === node)?.verdict === v);
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.waiting.delete(check);
      };
      const check = (): void => {
        if (!met()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        const said = this.verdicts.map((v) => `${v.node}:${v.verdict}`).join(' ');
        reject(new Error(`wanted ${JSON.stringify(wanted)}; verdicts were ${said}`));
      }, limitMs);
      this.waiting.add(check);
      check();
    });
  }

  spawnAgent(name: string): void {
    const dir = join(this.nats.dir, 'hosts', name);
    mkdirSync(dir, { recursive: true });
    const config = {
      node: name,
      cluster: CLUSTER,
      networks: Object.fromEntries(Object.entries(this.addresses(name)).map(([n, bind]) => [n, { bind }])),
      port: this.settings.agentPort,
      nats: { management: [this.nats.url], backend: [this.nats.url] },
      credentials: credentialsFile(this.nats.dir, `agent=${name}`),
      keys: this.keyFile,
      stateDir: join(dir, 'state'),
      socket: join(dir, 'agent.sock'),
    };
    writeFileSync(join(dir, 'agent.json'), JSON.stringify(config));
    const agent = daemon(process.execPath, [agentMain, '--config', join(dir, 'agent.json')], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, MUSTER_ROOT: dir, NODE_OPTIONS: '' },
    });
    this.agents.set(name, agent);
  }

  get keyFile(): string {
    return join(this.nats.dir, 'keys', 'datagram.key');
  }

  /** Resident memory of an agent, bytes. */
  rss(name: string): number {
    const status = readFileSync(`/proc/${this.agents.get(name)?.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  async kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const agent = this.agents.get(name);
    agent?.kill(signal);
    await agent;
  }

  async stop(): Promise<void> {
    for (const name of this.agents.keys()) await this.kill(name, 'SIGKILL');
    await this.inventory.close();
    await this.nats.stop();
  }

  private addresses(name: string): Record<string, string> {
    const i = this.names.indexOf(name) + 1;
    return { management: `127.${this.subnet}.1.${i}`, backend: `127.${this.subnet}.2.${i}` };
  }

  private peersOf(name: string): PeerList {
    const peer = (n: string): Peer => ({ name: n, networks: this.addresses(n) });
    return {
      version: 1,
      cluster: CLUSTER,
      self: peer(name),
      peers: this.names.filter((n) => n !== name).map(peer),
      port: this.settings.agentPort,
      detection: this.settings.detection,
    };
  }
}

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import type { PeerList } from '#contracts/wire/peers.js';
import type { DetectionSettings } from '#contracts/settings/settings.js';
import { Agent } from '../agent.js';
import type { AgentStatus } from '../control/agent-status.js';
import { checkConfig } from '../config/agent-config.js';
import { askAgent } from '../control/client.js';
import type { AgentLog } from '../log/agent-log.js';

const quiet: AgentLog = { info() {}, warn() {}, error() {} };
const CLUSTER = 'spec';
const KEY = Buffer.alloc(32, 7);
/** Where no NATS server is: the control plane is down. */
const NOWHERE = 'nats://127.0.0.1:9';

/** A silence timeout of 240 ms: what takes a minute with the default numbers takes seconds. */
export const brisk: DetectionSettings = {
  profile: 'fast',
  interval: 60,
  misses: 4,
  suspectMisses: 2,
  reportPeriod: 80,
  freshness: 180,
  loopGap: 1_000,
};

export const wire = { cluster: CLUSTER, keys: [KEY] };

/** Forwards what is sent to one address, or drops it while that one is cut. The other end sees the sender's own relay. */
class Relay {
  private readonly socket: Socket = createSocket('udp4');

  constructor(
    readonly address: string,
    private readonly real: string,
    private readonly port: number,
    private readonly relayOf: (address: string) => Relay | undefined,
    private readonly passes: (from: string, to: string) => boolean,
  ) {}

  async open(): Promise<void> {
    this.socket.on('message', (bytes, from) => {
      const sender = this.relayOf(from.address);
      if (sender && this.passes(from.address, this.real)) sender.socket.send(bytes, this.port, this.real);
    });
    this.socket.bind(this.port, this.address);
    await once(this.socket, 'listening');
  }

  close(): void {
    this.socket.close();
  }
}

export interface AgentFleetOptions {
  names: string[];
  networks?: string[];
  detection?: DetectionSettings;
  /** NATS per network. @default nobody answers */
  nats?: Record<string, string[]>;
  /** More members of every agent.json. */
  config?: object;
}

let subnets = 0;

/** Real agents in this process, each with its own addresses, behind relays that can cut one off. Peer lists are on disk. */
export class AgentFleet {
  readonly agents = new Map<string, Agent>();
  private readonly relays: Relay[] = [];
  private readonly cutOff = new Set<string>();

  private constructor(
    private readonly o: AgentFleetOptions,
    private readonly dir: string,
    readonly port: number,
    private readonly subnet: string,
    readonly networks: string[],
  ) {}

  /** With relays, and the peer list of version 1 in every cache; nothing runs yet. */
  static async create(o: AgentFleetOptions): Promise<AgentFleet> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-agents-'));
    const subnet = `127.${100 + (process.pid % 100)}.${(subnets++ % 50) * 4}`;
    const fleet = new AgentFleet(o, dir, await freeUdpPort(), subnet, o.networks ?? ['backend', 'management']);
    for (const name of o.names)
      for (const network of fleet.networks) {
        const relayOf = (address: string): Relay | undefined =>
          fleet.relays.find((r) => r.address === toRelay(address));
        const relay = new Relay(
          toRelay(fleet.address(name, network)),
          fleet.address(name, network),
          fleet.port,
          relayOf,
          (from, to) => !fleet.cutOff.has(from) && !fleet.cutOff.has(to),
        );
        fleet.relays.push(relay);
        await relay.open();
      }
    for (const name of o.names) fleet.cache(name, fleet.listOf(name));
    return fleet;
  }

  /** @param epoch of its process; each has a greater one than those before, unless told */
  async start(name: string, config: object = {}, epoch = 1 + this.agents.size): Promise<Agent> {
    const agent = new Agent({
      config: checkConfig({
        node: name,
        cluster: CLUSTER,
        networks: Object.fromEntries(this.networks.map((n) => [n, { bind: this.address(name, n) }])),
        port: this.port,
        nats: this.o.nats ?? Object.fromEntries(this.networks.map((n) => [n, [NOWHERE]])),
        keys: '/dev/null',
        stateDir: join(this.dir, name),
        socket: this.socketOf(name),
        lister: ['/bin/echo', '[]'],
        ...this.o.config,
        ...config,
      }),
      keys: [KEY],
      epoch,
      bootId: `boot-${name}`,
      clock: systemClock,
      random: systemRandom,
      log: quiet,
    });
    this.agents.set(name, agent);
    await agent.start();
    return agent;
  }

  /** A second machine that calls itself `name`, at the addresses of another one. */
  async startClone(name: string, addressesOf: string, epoch?: number): Promise<Agent> {
    this.cache(addressesOf, this.listOf(name));
    return this.start(addressesOf, { node: name }, epoch);
  }

  async startAll(): Promise<void> {
    for (const name of this.o.names) await this.start(name);
  }

  status(name: string): Promise<AgentStatus> {
    return askAgent(systemClock, { op: 'status' }, this.socketOf(name)) as Promise<AgentStatus>;
  }

  /** Asks again and again until what it says is as wanted; the test's own limit ends what hangs. */
  async until(name: string, met: (s: AgentStatus) => boolean): Promise<AgentStatus> {
    for (;;) {
      const status = await this.status(name);
      if (met(status)) return status;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Nothing reaches this one on any network, nor leaves it. */
  cut(name: string): void {
    for (const network of this.networks) this.cutOff.add(this.address(name, network));
  }

  heal(name: string): void {
    for (const network of this.networks) this.cutOff.delete(this.address(name, network));
  }

  address(name: string, network: string): string {
    return `${this.subnet}.${10 * (this.networks.indexOf(network) + 1) + this.o.names.indexOf(name)}`;
  }

  /** As its peers know it. */
  relayAddress(name: string, network: string): string {
    return toRelay(this.address(name, network));
  }

  socketOf(name: string): string {
    return join(this.dir, `${name}.sock`);
  }

  listOf(name: string, over: Partial<PeerList> = {}): PeerList {
    const own = Object.fromEntries(this.networks.map((n) => [n, this.address(name, n)]));
    return {
      version: 1,
      cluster: CLUSTER,
      self: { name, networks: own },
      peers: this.o.names
        .filter((n) => n !== name)
        .map((n) => ({
          name: n,
          networks: Object.fromEntries(this.networks.map((x) => [x, this.relayAddress(n, x)])),
        })),
      port: this.port,
      detection: this.o.detection ?? brisk,
      ...over,
    };
  }

  /** The list on its disk; an agent that runs has read it. */
  cache(name: string, list: PeerList): void {
    mkdirSync(join(this.dir, name), { recursive: true });
    writeFileSync(join(this.dir, name, 'peers.json'), JSON.stringify(list));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.agents.values()].map((a) => a.stop('stop')));
    for (const relay of this.relays) relay.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The relay of an address lives in the next subnet. */
const toRelay = (address: string): string => {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  return `${a}.${b}.${c % 4 === 0 ? c + 1 : c}.${d}`;
};

/** A UDP port that was free on every address of this host a moment ago. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '0.0.0.0');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

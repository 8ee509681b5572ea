import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import {
  connectBus,
  readCredentials,
  readSecretsKey,
  WorkerRegistry,
  type Bus,
  type Closable,
  type KvView,
} from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { patient } from '#bus/testing/patient.js';
import { startProxy, type TestProxy } from '#bus/testing/proxy.js';
import {
  MusterError,
  Subjects,
  type Beacon,
  type ClusterSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Reservations,
  type Verdict,
} from '#contracts';
import {
  buildConfig,
  ownSeal,
  ServiceContext,
  startInContext,
  startService,
  type RunningService,
  type ServiceConfig,
} from '#service';
import { InventoryModule } from '../inventory.module.js';
import { answerIdentify } from './identify.js';
import { until } from './until.js';

interface Replica {
  service: RunningService;
  proxy: TestProxy | undefined;
}

/** The whole inventory on a real nats-server, with a detector and workers that are played by the spec. */
export class RunningInventory {
  private seq = 0;
  /** What the detector says that its own datagrams are proved by. */
  detectorKeys: string[] | undefined;
  private beacons: NodeJS.Timeout | undefined;
  private readonly parts: Closable[] = [];
  private readonly dead: Promise<void>[] = [];

  private constructor(
    readonly nats: TestNats,
    /** Each by its own NATS user, so that the permissions of `muster init` are proved on the way. */
    private readonly buses: Map<string, Bus>,
    private readonly dir: string,
    /** The key by which inventory seals; read when a replica starts. */
    readonly secretsFile: string,
    private readonly replicas: Map<string, Replica>,
    private readonly startReplica: (instance: string) => Promise<Replica>,
    readonly nodes: KvView<NodeRecord>,
    readonly jobs: KvView<JobRecord>,
    readonly reservations: KvView<Reservations>,
    readonly incidents: KvView<IncidentRecord>,
  ) {}

  static async start(
    o: {
      initial?: Partial<ClusterSettings>;
      ansible?: Record<string, unknown>;
      replicas?: number;
      agents?: string[];
      /** Where agents reach NATS over management. @default this machine's own: no TLS is missed there */
      agentsReach?: string;
      /** NATS speaks TLS. @default false */
      tls?: boolean;
      /** Replicas can be killed by {@link crash}. @default false */
      mortal?: boolean;
      /** What inventory writes its lines to. @default what is fatal to stderr */
      log?: Logger;
    } = {},
  ): Promise<RunningInventory> {
    const agents = o.agents ?? [];
    const nats = await startTestNats({ users: true, agents, tls: o.tls === true });
    const dir = await mkdtemp(join(tmpdir(), 'muster-inventory-'));
    const secrets = join(dir, 'secrets.key');
    await writeFile(secrets, '11'.repeat(32));
    const start = async (instance: string): Promise<Replica> => {
      const proxy = o.mortal === true ? await startProxy(nats.url) : undefined;
      const values = {
        cluster: 'spec',
        instance,
        nats: { servers: [proxy?.url ?? nats.url], certificate: join(nats.dir, 'tls/server.pem') },
        ...(o.tls === true && {
          http: { tls: { certificate: join(nats.dir, 'tls/api.pem'), key: join(nats.dir, 'tls/api.key') } },
        }),
        keys: {
          secrets,
          datagram: join(nats.dir, 'keys/datagram.key'),
          agents: join(nats.dir, 'keys/agents.key'),
          revoker: join(nats.dir, 'keys/revoker.key'),
        },
        agents: {
          nats: { management: [o.agentsReach ?? 'nats://127.0.0.1:4222'], backend: ['nats://127.0.1.1:4222'] },
        },
        credentials: join(nats.dir, 'creds', 'inventory.json'),
        dataDir: dir,
        logLevel: 'fatal',
        ...(o.initial && { initial: o.initial }),
        ...(o.ansible && { ansible: o.ansible }),
      };
      const config = buildConfig(values, undefined, 'spec');
      try {
        return { service: await startInventory(config, o.log), proxy };
      } catch (e) {
        await proxy?.close();
        throw e;
      }
    };
    const replicas = new Map<string, Replica>();
    for (let i = 1; i <= (o.replicas ?? 1); i++) replicas.set(`inventory-${i}`, await start(`inventory-${i}`));
    const buses = new Map<string, Bus>();
    const users = ['inventory', 'detector', 'provisioner', 'fencer', 'gateway', 'tools'];
    for (const user of [...users, ...agents.map((a) => `agent=${a}`)]) {
      const credentials = readCredentials(join(nats.dir, 'creds', `${user}.json`));
      // What inventory itself would read and write.
      const seal = user === 'inventory' && ownSeal(() => readSecretsKey(secrets));
      const bus = await connectBus({ name: user, servers: [nats.url], credentials, ...(seal && { seal }) });
      // Who asks one that dies meanwhile is to ask again.
      buses.set(user, o.mortal === true ? bus : patient(bus));
    }
    const own = buses.get('inventory') as Bus;
    const running = new RunningInventory(
      nats,
      buses,
      dir,
      secrets,
      replicas,
      start,
      await own.bucket<NodeRecord>('nodes').view(),
      await own.bucket<JobRecord>('jobs').view(),
      await own.bucket<Reservations>('admission').view(),
      await own.bucket<IncidentRecord>('incidents').view(),
    );
    running.beat();
    running.beacons = setInterval(() => running.beat(), 500);
    return running;
  }

  /** The connection of a service, of `tools`, or of `agent=<node>`. */
  as(user: string): Bus {
    const bus = this.buses.get(user);
    if (!bus) throw new Error(`no NATS user ${user}`);
    return bus;
  }

  get instances(): string[] {
    return [...this.replicas.keys()];
  }

  /** As kill -9, in the middle of what it sends: after so many more pieces its connection is gone for good. */
  async crash(instance: string, afterPieces: number): Promise<void> {
    const replica = this.replicas.get(instance);
    if (!replica?.proxy) throw new Error(`${instance} cannot be killed`);
    await replica.proxy.dieAfter(afterPieces);
    this.replicas.delete(instance);
    this.dead.push(replica.service.close());
  }

  /** One more, or one again. */
  async startAnother(instance: string): Promise<void> {
    this.replicas.set(instance, await this.startReplica(instance));
  }

  /** In good order, and again. */
  async restart(instance: string): Promise<void> {
    const replica = this.replicas.get(instance);
    await replica?.service.close();
    await replica?.proxy?.close();
    await this.startAnother(instance);
  }

  /** Every replica knows of the worker when this resolves. */
  async work(service: 'provisioner' | 'fencer', drivers: string[]): Promise<Closable> {
    const id = `${service}-${this.parts.length}`;
    const worker = await WorkerRegistry.announce(this.as(service), { service, id, drivers });
    this.parts.push(worker);
    if (service === 'fencer') this.parts.push(answerIdentify(this.as(service)));
    const known = () => this.as('gateway').call('inventory.workers.list', {});
    await this.everywhere(known, (live) => live.items.some((w) => w.service === service && w.id === id));
    return worker;
  }

  /**
   * Resolves with an answer that fits once every replica gives such a one: each follows the others by its own watches,
   * and any of them may answer. So many are asked at once that one is left out in less than one of 10^6 rounds.
   */
  everywhere<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
    const asked = this.replicas.size > 1 ? 24 : 1;
    return until(async () => {
      const answers = await Promise.all(Array.from({ length: asked }, ask)).catch((e: unknown) => {
        // On a busy machine some answer may be late, or a connection break; it is asked again.
        if (e instanceof MusterError && (e.code === 'TIMEOUT' || e.code === 'BUS_UNAVAILABLE')) return [];
        throw e;
      });
      return answers.length > 0 && answers.every(fits) && answers[0];
    }, `an answer of each replica that fits ${fits.toString()}`);
  }

  /** Speaks as the detector. */
  async verdict(node: string, verdict: Verdict['verdict'], o: Partial<Verdict> = {}): Promise<void> {
    const evidence = { observers: [], assigned: 0, accusers: 0, members: 3, sightedReporters: 3 };
    this.seq += 1;
    await this.as('detector').publishVerdict({
      node,
      verdict,
      networks: [],
      epoch: 1,
      seq: this.seq,
      at: Date.now(),
      bootId: 'boot-1',
      reason: 'spec',
      evidence,
      ...o,
    });
  }

  /** The detector says nothing, until the answer is called: then at once, and on and on. */
  hushDetector(): () => void {
    clearInterval(this.beacons);
    return () => {
      this.beat();
      this.beacons = setInterval(() => this.beat(), 500);
    };
  }

  private beat(): void {
    const beacon: Beacon = {
      epoch: 1,
      seq: this.seq,
      instance: 'spec',
      sighted: true,
      members: 3,
      sightedReporters: 3,
      notUp: {},
      ...(this.detectorKeys && { keys: this.detectorKeys }),
    };
    this.as('detector').publish(Subjects.beacon(), beacon);
  }

  async stop(): Promise<void> {
    clearInterval(this.beacons);
    await Promise.all(this.parts.map((p) => p.close()));
    await Promise.all([this.nodes, this.jobs, this.reservations, this.incidents].map((v) => v.close()));
    for (const r of this.replicas.values()) await r.service.close();
    for (const r of this.replicas.values()) await r.proxy?.close();
    await Promise.all(this.dead);
    for (const bus of this.buses.values()) await bus.close();
    await this.nats.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** Resolves with the first value of the key that fits, as soon as the view shows it. */
export function seen<T>(view: KvView<T>, key: string, fits: (value: T) => boolean): Promise<T> {
  const now = view.get(key);
  if (now && fits(now.value)) return Promise.resolve(now.value);
  return new Promise((resolve) => {
    const stop = view.onChange((k, value) => {
      if (k !== key || value === undefined || !fits(value)) return;
      stop();
      resolve(value);
    });
  });
}

async function startInventory(config: ServiceConfig, log: Logger | undefined): Promise<RunningService> {
  if (log === undefined) return startService('inventory', InventoryModule, { config });
  const { instance, nats, credentials = '', keys } = config;
  const bus = await connectBus({
    ...{ name: instance, servers: nats.servers, credentials: readCredentials(credentials), log },
    seal: ownSeal(() => readSecretsKey(keys.secrets ?? '')),
  });
  try {
    const running = await startInContext(new ServiceContext(config, bus, log, 'inventory'), InventoryModule);
    return {
      close: async () => {
        try {
          await running.close();
        } finally {
          await bus.close();
        }
      },
    };
  } catch (e) {
    await bus.close();
    throw e;
  }
}

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBus, credentialsFile, initCluster, readCredentials, type Bus } from '#bus';
import { loggedDaemon, type Daemon, type DaemonEnd } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import { MusterError, type ServiceName } from '#contracts';
import { Hopeless, until } from '../../lab/src/until.js';
import { cpuMsOf } from './proc.js';

const DIST = join(import.meta.dirname, '..', '..');
/** Of processes that live, on a machine that is busy with others: it measures nothing. */
const START_MS = 180_000;
export const CLUSTER = 'bench';

export interface PlaneOptions {
  /** Nodes whose agents get a NATS user. @default none */
  agents?: string[];
  /** Where agents reach NATS, beside 127.0.0.1; its port is the same everywhere. @default nowhere */
  addresses?: readonly string[];
  /** Inventory, detector and the like answer `GET /metrics`, each on an address of its own. @default false */
  metrics?: boolean;
}

/** Processes of a control machine as it runs in production, with users and files of its own: NATS and services. */
export class ControlPlane {
  private readonly processes = new Map<string, Daemon>();
  /** How each is started. */
  private readonly commands = new Map<string, { argv: string[]; env: Record<string, string> }>();
  private readonly metricsAt = new Map<string, string>();
  private readonly ended = new Map<string, DaemonEnd>();
  private readonly buses: Bus[] = [];
  /** However this process ends, they end with it. */
  private readonly endAll = (): void => {
    for (const p of this.processes.values()) p.kill('SIGKILL');
  };

  private constructor(
    readonly dir: string,
    readonly natsPort: number,
    readonly api: string,
  ) {
    process.once('exit', this.endAll);
  }

  /** Started in this order, each once per mention. What fails to start ends the others, with its last words. */
  static async start(services: readonly ServiceName[], o: PlaneOptions = {}): Promise<ControlPlane> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-bench-'));
    const [natsPort, apiPort] = [await freePort(), await freePort()];
    const plane = new ControlPlane(dir, natsPort, `http://127.0.0.1:${apiPort}`);
    try {
      await initCluster(join(dir, 'etc'), {
        cluster: CLUSTER,
        agents: o.agents ?? [],
        natsListen: ['127.0.0.1', ...(o.addresses ?? [])].map((address) => `${address}:${natsPort}`),
        storeDir: join(dir, 'store'),
        config: { http: { listen: `127.0.0.1:${apiPort}` } },
      });
      plane.run('nats-server', ['nats-server', '-c', join(dir, 'etc', 'nats.conf')], {});
      for (const [i, service] of services.entries()) {
        const name = `${service}-${i}`;
        const listen = o.metrics === true && service !== 'gateway' ? `127.0.0.1:${await freePort()}` : undefined;
        if (listen !== undefined) plane.metricsAt.set(name, `http://${listen}/metrics`);
        plane.run(name, [process.execPath, join(DIST, 'apps', service, 'src', 'main.js')], {
          MUSTER_CONFIG: join(dir, 'etc', 'muster.yaml'),
          MUSTER_INSTANCE: name,
          MUSTER_LOG_LEVEL: 'warn',
          ...(listen !== undefined && { MUSTER_METRICS: listen }),
        });
      }
      if (services.includes('gateway')) await plane.ready();
      return plane;
    } catch (e) {
      await plane.stop();
      throw e;
    }
  }

  /** File of a NATS user: a service, `tools`, or `agent=<node>`. */
  credentials(user: string): string {
    return credentialsFile(join(this.dir, 'etc'), user);
  }

  get datagramKeys(): string {
    return join(this.dir, 'etc', 'keys', 'datagram.key');
  }

  /** Signs the users of services. */
  get operatorKey(): string {
    return join(this.dir, 'etc', 'keys', 'operator.key');
  }

  /** A connection as one of the services, or as a tool of the operator. */
  async bus(user: ServiceName | 'tools'): Promise<Bus> {
    const credentials = readCredentials(this.credentials(user));
    const servers = [`nats://127.0.0.1:${this.natsPort}`];
    const bus = await connectBus({ name: `bench-${user}`, servers, credentials });
    this.buses.push(bus);
    return bus;
  }

  /** Processor time that each process has used so far. Unlike a rate, it hardly depends on what else the machine does. */
  cpuMs(): Map<string, number> {
    return new Map([...this.processes].map(([name, { pid }]) => [name, pid === undefined ? 0 : cpuMsOf(pid)]));
  }

  /** What a process counts of itself, as Prometheus reads it. Rejects while it does not answer. */
  async metricsOf(name: string): Promise<string> {
    const url = this.metricsAt.get(name);
    if (url === undefined) throw new MusterError('NOT_FOUND', `${name} has no metrics here`);
    return (await fetch(url)).text();
  }

  /** Ends a process with `kill -9`; resolves when it is gone. */
  async kill(name: string): Promise<void> {
    const victim = this.processes.get(name);
    if (victim === undefined) throw new MusterError('NOT_FOUND', `no process is called ${name}`);
    this.processes.delete(name);
    victim.kill('SIGKILL');
    await victim;
    this.ended.delete(name);
  }

  /** Starts one again that was killed, under the same name. */
  startAgain(name: string): void {
    const { argv, env } = this.commands.get(name) ?? {};
    if (argv === undefined || env === undefined) throw new MusterError('NOT_FOUND', `no process is called ${name}`);
    this.run(name, argv, env);
  }

  /** Processes that have ended, each with its last words; empty while all run. */
  dead(): string {
    return [...this.ended]
      .map(([name, { exitCode, signal }]) => `${name} ended (${signal ?? exitCode}): ${this.lastWords(name)}`)
      .join('; ');
  }

  async stop(): Promise<void> {
    await Promise.all(this.buses.map((bus) => bus.close()));
    for (const p of [...this.processes.values()].reverse()) {
      p.kill('SIGKILL');
      await p;
    }
    process.off('exit', this.endAll);
    await rm(this.dir, { recursive: true, force: true });
  }

  private run(name: string, argv: string[], env: Record<string, string>): void {
    this.commands.set(name, { argv, env });
    const log = join(this.dir, `${name}.log`);
    const options = { env: { PATH: process.env['PATH'], ...env } };
    const started = loggedDaemon(argv[0] as string, argv.slice(1), log, options);
    this.processes.set(name, started);
    void started.then((end) => this.ended.set(name, end));
  }

  private async ready(): Promise<void> {
    await until(
      'the gateway to be ready',
      START_MS,
      async () => {
        const dead = this.dead();
        if (dead !== '') throw new Hopeless(new MusterError('COMMAND_FAILED', dead));
        const answer = await fetch(`${this.api}/readyz`).catch(() => undefined); // not up yet: asked again
        if (answer?.ok === true) return true;
        throw new MusterError('BUS_UNAVAILABLE', this.lastWords(this.gateway));
      },
      100,
    );
  }

  private get gateway(): string {
    return [...this.processes.keys()].find((name) => name.startsWith('gateway')) ?? '';
  }

  private lastWords(process: string): string {
    const lines = readFileSync(join(this.dir, `${process}.log`), 'utf8')
      .trim()
      .split('\n');
    return lines.at(-1) ?? '';
  }
}

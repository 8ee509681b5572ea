import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { until } from '../../../lab/src/until.js';
import { BASE_IMAGE, NATS_IMAGE } from './base-images.js';
import { addresses } from './control-machine.js';
import type { Engine, EngineMachine } from './engine.js';

export const services = ['nats', 'inventory', 'gateway', 'detector', 'provisioner', 'fencer'] as const;
export type Service = (typeof services)[number];

/** Where the images come from that no registry gives here. */
export const images = { MUSTER_BUILD_NETWORK: 'host', MUSTER_TAG: 'test', BASE_IMAGE, NATS_IMAGE };

/** With what an operator writes into .env. */
export const settings = {
  ...images,
  // Label of a node of the lab: the machine is one itself.
  MUSTER_HOST: 'host4',
  MUSTER_MANAGEMENT: addresses.management,
  MUSTER_BACKEND: addresses.backend,
};

export interface Answer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** What `docker inspect` says of a container, as far as it is looked at. */
export interface Inspected {
  Id: string;
  RestartCount: number;
  State: { Pid: number; StartedAt: string; Running: boolean; Health?: { Status: string } };
  Config: { User: string; Env: string[]; Cmd: string[] | null };
  HostConfig: {
    ReadonlyRootfs: boolean;
    Privileged: boolean;
    CapAdd: string[] | null;
    CapDrop: string[] | null;
    Memory: number;
    PidsLimit: number;
    Binds: string[] | null;
    RestartPolicy: { Name: string };
  };
}

/** The composition of a checkout, on an engine. */
export class Composition {
  private readonly program: string[];

  /**
   * @param settings its environment
   * @param options of compose, for every command
   * @param machine where the program itself is run, which the engine may be on. @default here
   */
  constructor(
    readonly engine: Engine,
    readonly checkout: string,
    readonly project: string,
    private readonly settings: Record<string, string>,
    private readonly options: readonly string[],
    private readonly machine?: EngineMachine,
  ) {
    const plugin = execaSync('docker', ['compose', 'version'], { reject: false }).exitCode === 0;
    this.program = plugin ? ['docker', 'compose'] : ['docker-compose'];
  }

  /** That of docs/compose.md. */
  static forOperator(engine: Engine, checkout: string, project: string): Composition {
    return new Composition(engine, checkout, project, settings, ['-p', project]);
  }

  /** That of a control host, as docs/install.md has it: its files are there, and give it no other name than the checkout's. */
  static onHost(host: EngineMachine & { engine: Engine }, checkout: string, options: readonly string[]): Composition {
    return new Composition(host.engine, checkout, basename(checkout), images, options, host);
  }

  /** The demo, as its own file of variables has it: without the override that the checks of the other one are for. */
  static forDemo(engine: Engine, checkout: string): Composition {
    const only = { ...images, COMPOSE_FILE: 'docker-compose.yml' };
    const options = ['--env-file', 'deploy/docker/demo.env', '--profile', 'demo'];
    return new Composition(engine, checkout, 'muster-demo', only, options);
  }

  /** `without`: variables that are not set. */
  async run(args: readonly string[], o: { env?: Record<string, string>; without?: string[]; input?: string } = {}) {
    // Who enters another file system is at its root.
    const at = ['env', '-C', this.checkout];
    const [command = '', ...first] = [...(this.machine?.enter ?? []), ...at, ...this.program];
    const all = { ...this.settings, ...o.env };
    const env = Object.fromEntries(Object.entries(all).filter(([name]) => o.without?.includes(name) !== true));
    const { exitCode, stdout, stderr } = await execa(command, [...first, ...this.options, ...args], {
      env: { ...this.engine.env, ...env },
      input: o.input ?? '',
      reject: false,
    });
    return { exitCode: exitCode ?? 1, stdout, stderr } satisfies Answer;
  }

  /** As {@link run}, for what must not fail. */
  async done(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args);
    if (exitCode !== 0) throw new Error(`compose ${args.join(' ')}: exit ${exitCode}: ${stderr.slice(-2_000)}`);
    return stdout;
  }

  /** `muster` in its container. */
  cli(token: string, args: readonly string[], input = ''): Promise<Answer> {
    return this.run(['run', '--rm', '-T', 'cli', ...args], { env: { MUSTER_TOKEN: token }, input });
  }

  /** Also of a container that has ended, or whose profile is not asked for. */
  async containerOf(service: string): Promise<string> {
    const labels = { project: this.project, service };
    const filters = Object.entries(labels).flatMap(([name, value]) => [
      '--filter',
      `label=com.docker.compose.${name}=${value}`,
    ]);
    return (await this.engine.docker('ps', '-aq', ...filters)).trim();
  }

  /** Containers of every profile, and all that they kept. */
  downAll(): Promise<string> {
    return this.done('--profile', 'tools', 'down', '-v', '--remove-orphans');
  }

  /** Names of the networks that a container is on. */
  async networks(id: string): Promise<string[]> {
    const text = await this.engine.docker('inspect', '--format', '{{json .NetworkSettings.Networks}}', id);
    return Object.keys(JSON.parse(text) as object);
  }

  async inspect(service: string): Promise<Inspected> {
    return this.inspectContainer(await this.containerOf(service));
  }

  private async inspectContainer(id: string): Promise<Inspected> {
    const [one] = JSON.parse(await this.engine.docker('inspect', id)) as Inspected[];
    if (one === undefined) throw new Error(`there is no container ${id}`);
    return one;
  }

  async exec(service: Service, ...command: string[]): Promise<Answer> {
    const { exitCode, stdout, stderr } = await execa('docker', ['exec', await this.containerOf(service), ...command], {
      env: this.engine.env,
      reject: false,
    });
    return { exitCode: exitCode ?? 1, stdout, stderr };
  }

  /** Resolves with the inspection when its health check passes, of a run that began after `since`. */
  async healthy(service: Service, timeoutMs: number, since = ''): Promise<Inspected> {
    const id = await this.containerOf(service);
    return until(
      `${service} to be healthy`,
      timeoutMs,
      async () => {
        const seen = await this.inspectContainer(id);
        const { Running, Health, StartedAt } = seen.State;
        return Running && Health?.Status === 'healthy' && StartedAt > since ? seen : undefined;
      },
      250,
    );
  }

  /** Path → content, rights and time of change, of all volumes of the composition. */
  volumes(): Record<string, string> {
    return Object.fromEntries(
      this.stored().map(([path, at]) => {
        const { mode, mtimeMs, uid } = lstatSync(at);
        const isFile = lstatSync(at).isFile();
        const content = isFile ? createHash('sha256').update(readFileSync(at)).digest('hex') : '';
        return [path, `${uid} ${mode.toString(8)} ${isFile ? mtimeMs : ''} ${content}`];
      }),
    );
  }

  /** Of every file of every volume. */
  contents(): Buffer[] {
    return this.stored().flatMap(([, at]) => (lstatSync(at).isFile() ? [readFileSync(at)] : []));
  }

  /** What lies in the volumes: path for people, and where it is. */
  private stored(): [string, string][] {
    const folders = readdirSync(this.engine.volumes).filter((name) => name.startsWith(`${this.project}_`));
    return folders.flatMap((folder) =>
      readdirSync(join(this.engine.volumes, folder), { recursive: true, encoding: 'utf8' }).map(
        (path): [string, string] => [`${folder}/${path}`, join(this.engine.volumes, folder, path)],
      ),
    );
  }
}

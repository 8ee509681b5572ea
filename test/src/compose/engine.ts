import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { loggedDaemon, type Daemon } from '../../../libs/bus/src/testing/daemon.js';
import { until } from '../../../lab/src/until.js';

const START_MS = 60_000;

/** What an engine runs on. */
export interface EngineMachine {
  /** What a command begins with that is to run there. Not `ip netns exec`: that hides the control groups. */
  readonly enter: readonly string[];
  /** Control group of all its containers. @default the engine's own default */
  readonly controlGroup?: string;
  /**
   * It filters and translates by tables of its own, in which the engine makes the rules that it makes by itself. Without:
   * no rules, ports are published by the engine's proxies, and containers reach nobody beyond the machine. @default false
   */
  readonly ownTables?: boolean;
}

/** This machine itself, whose tables stay as they are. */
const Here: EngineMachine = { enter: [] };

/** A container engine of our own: its data and socket are not those of the machine's. */
export class Engine {
  private process: Daemon | undefined;

  /** @param machine what it runs on. @default this machine */
  constructor(
    private readonly dir: string,
    private readonly machine = Here,
  ) {}

  /** For the programs `docker` and `docker-compose`. The classic builder needs nothing that Debian does not pack. */
  get env(): Record<string, string> {
    return { DOCKER_HOST: `unix://${join(this.dir, 'docker.sock')}`, DOCKER_BUILDKIT: '0' };
  }

  get volumes(): string {
    return join(this.data, 'volumes');
  }

  private get data(): string {
    return join(this.dir, 'data');
  }

  /** Of what runs: a machine has it in memory. */
  private get state(): string {
    return join(this.dir, 'exec');
  }

  /**
   * Gives an engine that has not been started yet the images that `other` has, which runs no container. What is in them
   * is on the disk once: nobody changes a layer, and to remove one takes a name from its files.
   */
  async takeImages(other: Engine): Promise<void> {
    mkdirSync(this.data, { recursive: true });
    await execa('cp', ['-a', join(other.data, 'image'), this.data]);
    // An engine mounts its data on themselves, and no name of a file leads out of a mount: so there where they are not.
    const link = `for at in "$1/overlay2" "$1"; do while mountpoint -q "$at"; do umount --lazy "$at"; done; done
cp -a --link "$1/overlay2" "$2"`;
    await execa('unshare', ['--mount', 'sh', '-ec', link, 'link', other.data, this.data]);
  }

  async start(): Promise<void> {
    mkdirSync(this.dir, { recursive: true });
    // Of an engine that was killed.
    for (const left of ['docker.pid', 'docker.sock']) rmSync(join(this.dir, left), { force: true });
    const { enter, controlGroup, ownTables = false } = this.machine;
    const engine = [
      'dockerd',
      ...['iptables', 'ip-forward', 'ip-masq'].map((rules) => `--${rules}=${ownTables}`),
      ...(controlGroup === undefined ? [] : ['--cgroup-parent', controlGroup]),
      ...['--data-root', this.data, '--exec-root', this.state],
      ...['--pidfile', join(this.dir, 'docker.pid'), '-H', `unix://${join(this.dir, 'docker.sock')}`],
    ];
    const [command = '', ...args] = [...enter, ...engine];
    this.process = loggedDaemon(command, args, join(this.dir, 'engine.log'), {});
    await until('the engine', START_MS, () => this.docker('info').then(() => true), 200);
  }

  /** With its containers; those that are to run start with it again. */
  async stop(): Promise<void> {
    this.process?.kill('SIGTERM');
    await this.process;
    this.process = undefined;
  }

  /** Resolves when it has ended with its machine: what that had in memory is gone. */
  async lost(): Promise<void> {
    await this.process;
    this.process = undefined;
    rmSync(this.state, { force: true, recursive: true });
  }

  async docker(...args: string[]): Promise<string> {
    return (await execa('docker', args, { env: this.env })).stdout;
  }
}

/** Why no engine can be had here; undefined: one can. */
export function whyNoEngine(): string | undefined {
  if (process.getuid?.() !== 0) return 'an engine of its own needs root';
  for (const [program, option] of [
    ['dockerd', '--version'],
    ['docker', '--version'],
    ['docker-compose', 'version'],
    ['debootstrap', '--version'],
    ['iptables', '--version'],
    ['ip', '-V'],
    ['nsenter', '--version'],
  ] as const)
    if (execaSync(program, [option], { reject: false }).exitCode !== 0) return `${program} does not run here`;
  return undefined;
}

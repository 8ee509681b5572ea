import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { loggedDaemon, type Daemon } from '../../../libs/bus/src/testing/daemon.js';
import { until } from '../../../lab/src/until.js';

const START_MS = 60_000;

/** A container engine of our own: its data, socket and, where given, network are not those of the machine's. */
export class Engine {
  private process: Daemon | undefined;

  /** @param netns name of the network namespace that is the engine's machine; absent: this machine's own */
  constructor(
    private readonly dir: string,
    private readonly netns?: string,
  ) {}

  /** For the programs `docker` and `docker-compose`. The classic builder needs nothing that Debian does not pack. */
  get env(): Record<string, string> {
    return { DOCKER_HOST: `unix://${join(this.dir, 'docker.sock')}`, DOCKER_BUILDKIT: '0' };
  }

  get volumes(): string {
    return join(this.dir, 'data', 'volumes');
  }

  async start(): Promise<void> {
    mkdirSync(this.dir, { recursive: true });
    // Of an engine that was killed.
    for (const left of ['docker.pid', 'docker.sock']) rmSync(join(this.dir, left), { force: true });
    const engine = [
      'dockerd',
      // No rules in the machine's tables: ports are published by the engine's own proxies.
      ...['--iptables=false', '--ip-forward=false', '--ip-masq=false'],
      ...['--data-root', join(this.dir, 'data'), '--exec-root', join(this.dir, 'exec')],
      ...['--pidfile', join(this.dir, 'docker.pid'), '-H', `unix://${join(this.dir, 'docker.sock')}`],
    ];
    // Not `ip netns exec`: that hides the control groups.
    const enter = this.netns === undefined ? [] : ['nsenter', `--net=/run/netns/${this.netns}`];
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
    ['ip', '-V'],
    ['nsenter', '--version'],
  ] as const)
    if (execaSync(program, [option], { reject: false }).exitCode !== 0) return `${program} does not run here`;
  return undefined;
}

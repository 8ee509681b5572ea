import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { ControlHost } from '#bus';
import { loggedDaemon, type Daemon } from '../../../../libs/bus/src/testing/daemon.js';
import { until } from '../../../../lab/src/until.js';
import { childrenOf } from '../../children.js';
import { Engine, type EngineMachine } from '../engine.js';
import { removeControlGroup } from './control-group.js';
import type { Switch } from './switch.js';

const BOOT_MS = 30_000;

/** In memory is what is written to /etc and /run; on its disk, which survives, /etc/muster. Its name comes last. */
const BOOT = `
set -e
mount -t tmpfs -o mode=755 none /run
mkdir -p /run/etc/upper /run/etc/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc/upper,workdir=/run/etc/work /etc
mkdir -p /etc/muster
mount --bind "$2" /etc/muster
ip link set lo up
hostname "$1"
sleep infinity & wait
`;

/** A machine with an engine, in namespaces of its own: its power can be cut, and only what is on its disk is left. */
export class Hardware implements EngineMachine {
  readonly engine: Engine;
  readonly ownTables = true;
  readonly controlGroup: string;
  private machine: Daemon | undefined;

  /** @param disk folder of what survives */
  constructor(
    readonly host: ControlHost,
    private readonly disk: string,
    private readonly cables: Switch,
  ) {
    this.controlGroup = `/muster-test-${process.pid}-${host.name}`;
    this.engine = new Engine(join(disk, 'engine'), this);
  }

  /** With nothing but the images of an engine that runs no container. */
  async make(images: Engine): Promise<void> {
    rmSync(this.disk, { recursive: true, force: true });
    mkdirSync(this.etc, { recursive: true, mode: 0o700 });
    await this.engine.takeImages(images);
  }

  /** Into its /etc/muster, as root's rsync brings it. */
  bring(folder: string): void {
    cpSync(folder, this.etc, { recursive: true });
  }

  /** The same, of one file. */
  write(file: string, content: string): void {
    mkdirSync(dirname(join(this.etc, file)), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.etc, file), content, { mode: 0o600 });
  }

  /** What is to run by itself is started again by its engine. */
  async powerOn(): Promise<void> {
    const own = ['--mount', '--net', '--uts', '--ipc', '--pid', '--mount-proc', '--fork', '--kill-child'];
    const boot = ['sh', '-c', BOOT, 'boot', this.host.name, this.etc];
    this.machine = loggedDaemon('unshare', [...own, ...boot], join(this.disk, 'boot.log'), {});
    const named = async (): Promise<true | undefined> =>
      (await this.run('hostname', [])) === this.host.name ? true : undefined;
    await until(`${this.host.name} to be booted`, BOOT_MS, named, 100);
    await this.cables.plug(this.init(), this.host);
    await this.engine.start();
  }

  /** Resolves when nothing runs on it any more. */
  async cutPower(): Promise<void> {
    if (this.machine === undefined) return;
    // Of a process namespace the kernel ends all others with the first one, by the same signal.
    process.kill(this.init(), 'SIGKILL');
    await this.machine;
    this.machine = undefined;
    await this.engine.lost();
    await removeControlGroup(this.controlGroup);
  }

  async remove(): Promise<void> {
    await this.cutPower();
    rmSync(this.disk, { recursive: true, force: true });
  }

  get isOn(): boolean {
    return childrenOf(this.machine?.pid).length > 0;
  }

  /** @throws Error where it is off */
  get enter(): readonly [string, ...string[]] {
    return ['nsenter', '--target', String(this.init()), '--all'];
  }

  /** stdout of a program there. */
  async run(
    command: string,
    args: readonly string[],
    o: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<string> {
    const [enter, ...entering] = this.enter;
    // Who enters another file system is at its root.
    const at = ['env', '-C', o.cwd ?? '/'];
    const options = { stdin: 'ignore', ...(o.env && { env: o.env }) } as const;
    return (await execa(enter, [...entering, ...at, command, ...args], options)).stdout;
  }

  /** As of a machine of the other checks. */
  async answer(_where: 'machine', command: string, args: readonly string[], input = ''): Promise<string> {
    const [enter, ...entering] = this.enter;
    const { exitCode, stdout, stderr } = await execa(enter, [...entering, command, ...args], { input, reject: false });
    if (exitCode !== 0 && stdout === '')
      throw new Error(`${command} ${args.join(' ')}: exit ${exitCode}: ${stderr.slice(-2_000)}`);
    return stdout;
  }

  private get etc(): string {
    return join(this.disk, 'etc');
  }

  private init(): number {
    const [init] = childrenOf(this.machine?.pid);
    if (init === undefined) throw new Error(`${this.host.name} is off`);
    return init;
  }
}

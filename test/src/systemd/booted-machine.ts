import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { Hopeless, until } from '../../../lab/src/until.js';
import { childrenOf } from '../children.js';

/** Until systemd has started all that it is to start, ms. */
const BOOT_MS = 120_000;
/** Until it has ended in good order, ms. */
const SHUTDOWN_MS = 60_000;
/** What systemd-nspawn ends with where the machine wants to be booted again. */
const AGAIN = 133;

/**
 * This machine's file system, and in memory above it whatever is written there. Of this machine's own units none is
 * enabled, and a fixed machine-id says that this is no first boot, at which all would be.
 */
const SCRIPT = String.raw`
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
rm -rf "$1/root/etc/systemd/system" "$1"/root/etc/rc?.d "$1/root/etc/muster" "$1/root/var/lib/muster"
mkdir -p "$1/root/etc/systemd/system" "$1/root/opt/muster"
tr -d - < /proc/sys/kernel/random/uuid > "$1/root/etc/machine-id"
code=${AGAIN}
while [ "$code" = ${AGAIN} ]; do
  code=0
  systemd-nspawn --quiet -D "$1/root" --boot --register=no --keep-unit --private-network --console=pipe \
    --bind-ro="$2:/opt/muster" --bind-ro="$3:/usr/bin/node" || code=$?
done
exit "$code"
`;

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may boot one';
  if (execaSync('systemd-nspawn', ['--version'], { reject: false }).failed)
    return 'systemd-nspawn is missing: apt-get install systemd-container';
  if (!existsSync('/lib/systemd/systemd')) return 'this machine has no systemd';
  return undefined;
}

/** A machine of its own, in a container, that its own systemd has booted: Muster is in /opt/muster, and not installed. */
export class BootedMachine {
  private constructor(
    private readonly dir: string,
    private readonly outside: Daemon,
  ) {}

  /** @returns why there can be none here, in one line */
  static async boot(muster: string): Promise<BootedMachine | string> {
    const why = whyNot();
    if (why !== undefined) return why;
    const dir = mkdtempSync(join(tmpdir(), 'muster-boot-'));
    const args = ['--mount', 'sh', '-c', SCRIPT, 'boot', dir, muster, process.execPath];
    const log = { file: join(dir, '..', `${dir.slice(dir.lastIndexOf('/') + 1)}.log`), append: true } as const;
    const outside = daemon('unshare', args, { env: process.env, stdin: 'ignore', stdout: log, stderr: log });
    const machine = new BootedMachine(dir, outside);
    try {
      await machine.whenBooted();
      return machine;
    } catch (e) {
      await machine.end();
      const said = readFileSync(log.file, 'utf8').trim().split('\n').at(-1);
      return `it does not boot here: ${said || (e instanceof Error ? e.message : String(e))}`;
    } finally {
      rmSync(log.file, { force: true });
    }
  }

  /** stdout of a command there; undefined where it fails. */
  async tryRun(...command: string[]): Promise<string | undefined> {
    const { stdout, failed } = await execa('nsenter', [...this.enter(), ...command], { reject: false });
    return failed ? undefined : stdout;
  }

  /** stdout of a command there. @throws ExecaError */
  async run(...command: string[]): Promise<string> {
    return (await execa('nsenter', [...this.enter(), ...command])).stdout;
  }

  async reboot(): Promise<void> {
    const before = this.init();
    await this.run('systemctl', 'reboot');
    await until('another boot', SHUTDOWN_MS, () => (this.init() === before ? undefined : true), 100);
    await this.whenBooted();
  }

  /** In good order; what does not end is killed. Nothing of it is left. */
  async end(): Promise<void> {
    const container = this.container();
    if (container !== undefined) process.kill(container, 'SIGTERM');
    const late = AbortSignal.timeout(SHUTDOWN_MS);
    late.onabort = () => {
      const left = this.container();
      if (left !== undefined) process.kill(left, 'SIGKILL');
      this.outside.kill('SIGKILL');
    };
    await this.outside;
    late.onabort = null;
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async whenBooted(): Promise<void> {
    let over: Error | undefined;
    void this.outside.then(({ exitCode }) => (over = new Error(`it ended with ${exitCode}`)));
    const isUp = async (): Promise<true | undefined> => {
      if (over !== undefined) throw new Hopeless(over);
      // "degraded" is a machine on which something else fails.
      const { stdout } = await execa('nsenter', [...this.enter(), 'systemctl', 'is-system-running'], { reject: false });
      return ['running', 'degraded'].includes(stdout.trim()) ? true : undefined;
    };
    await until('a machine that has booted', BOOT_MS, isUp, 200);
  }

  /** @throws Error while it is not there */
  private enter(): string[] {
    const init = this.init();
    if (init === undefined) throw new Error('the machine is not running');
    return ['--target', String(init), '--all'];
  }

  private container(): number | undefined {
    return childrenOf(this.outside.pid)[0];
  }

  private init(): number | undefined {
    return childrenOf(this.container())[0];
  }
}

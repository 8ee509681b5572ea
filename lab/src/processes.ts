import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { loggedDaemon } from '#bus/testing/daemon.js';
import { MusterError } from '#contracts';
import type { LabFolder } from './folder.js';
import { until } from './until.js';

/** A pid alone may have been given to another process since: its start, in clock ticks since boot, makes it exact. */
export interface ProcessRecord {
  name: string;
  pid: number;
  start: number;
  log: string;
}

export interface ProcessSpec {
  name: string;
  argv: string[];
  env?: Record<string, string>;
  /** netns mode: network namespace to run in. */
  netns?: string;
  /** netns mode: what it finds its machine to be called. @default as the machine is */
  hostname?: string;
  /** The ledger is evidence: a service gets it read-only (netns mode). */
  ledger?: 'read-only';
}

/** Undefined: gone, or dead and only not yet reaped. */
export function startOf(pid: number): number | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // no such process: the answer itself
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19]);
}

/** The lab's own processes: started detached, known by pid and start, with a log each. */
export class Processes {
  private refuses = false;

  constructor(private readonly folder: LabFolder) {}

  /** From now on nothing is started: the lab is being taken down. */
  close(): void {
    this.refuses = true;
  }
  get closed(): boolean {
    return this.refuses;
  }

  private file(name: string): string {
    return this.folder.at('run', `${name}.json`);
  }

  log(name: string): string {
    return this.folder.at('log', `${name}.log`);
  }

  /** The process as it was last started, alive or not. */
  last(name: string): ProcessRecord | undefined {
    if (!existsSync(this.file(name))) return undefined;
    return JSON.parse(readFileSync(this.file(name), 'utf8')) as ProcessRecord;
  }

  alive(name: string): ProcessRecord | undefined {
    const record = this.last(name);
    return record !== undefined && startOf(record.pid) === record.start ? record : undefined;
  }

  all(): (ProcessRecord & { alive: boolean })[] {
    return readdirSync(this.folder.at('run'))
      .filter((f) => f.endsWith('.json'))
      .map((f) => f.slice(0, -'.json'.length))
      .toSorted()
      .flatMap((name) => {
        const record = this.last(name);
        return record === undefined ? [] : [{ ...record, alive: this.alive(name) !== undefined }];
      });
  }

  /** Nobody's child afterwards: it outlives this command. ALREADY_EXISTS where it still runs. */
  start(spec: ProcessSpec): ProcessRecord {
    if (this.refuses) throw new MusterError('FORBIDDEN', `${spec.name} is not started: the lab is being taken down`);
    if (this.alive(spec.name) !== undefined)
      throw new MusterError('ALREADY_EXISTS', `${spec.name} runs already, pid ${this.alive(spec.name)?.pid}`);
    const argv = this.inside(spec);
    const log = this.log(spec.name);
    const child = loggedDaemon(argv[0]!, argv.slice(1), log, {
      detached: true,
      cwd: this.folder.path,
      env: { ...this.environment(), ...spec.env },
    });
    if (child.pid === undefined) throw new MusterError('COMMAND_FAILED', `${spec.name}: ${argv[0]} cannot be started`);
    child.unref();
    const record: ProcessRecord = { name: spec.name, pid: child.pid, start: startOf(child.pid) ?? 0, log };
    const aside = `${this.file(spec.name)}.new`;
    writeFileSync(aside, `${JSON.stringify(record)}\n`);
    renameSync(aside, this.file(spec.name));
    return record;
  }

  /** What every process of this lab has in its environment: by the first one `down` finds them all. */
  environment(): Record<string, string> {
    return {
      MUSTER_LAB_DIR: this.folder.path,
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: this.folder.at('home'),
      LANG: 'C.UTF-8',
    };
  }

  /** Namespaces of its own where it needs them. nsenter, unshare and sh each become the next by exec: pid and start stay those of the process itself. */
  private inside(spec: ProcessSpec): string[] {
    if (spec.netns === undefined) return spec.argv;
    const enter = ['nsenter', `--net=/run/netns/${spec.netns}`];
    if (spec.ledger === undefined && spec.hostname === undefined) return [...enter, ...spec.argv];
    const steps = [
      ...(spec.hostname === undefined ? [] : ['echo "$1" > /proc/sys/kernel/hostname']),
      ...(spec.ledger === undefined ? [] : ['mount --bind "$0" "$0"', 'mount -o remount,bind,ro "$0"']),
      'shift',
      'exec "$@"',
    ];
    const own = ['unshare', '--mount', '--uts', 'sh', '-c', steps.join(' && ')];
    return [...enter, ...own, this.folder.at('ledger'), spec.hostname ?? '', ...spec.argv];
  }

  /** NOT_FOUND where it does not run. */
  signal(name: string, signal: NodeJS.Signals): ProcessRecord {
    const record = this.alive(name);
    if (record === undefined) throw new MusterError('NOT_FOUND', `${name} does not run`);
    process.kill(record.pid, signal);
    return record;
  }

  /** SIGKILL, and waits until it is gone. */
  async kill(name: string): Promise<ProcessRecord> {
    const record = this.signal(name, 'SIGKILL');
    await until(`${name} to end`, 5_000, () => (this.alive(name) === undefined ? true : undefined));
    return record;
  }

  forget(name: string): void {
    rmSync(this.file(name), { force: true });
  }
}

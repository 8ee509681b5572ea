import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { MusterError } from '#contracts';
import type { GuardControl, GuardOrder, GuardReport } from './guard-protocol.js';
import { LineSplitter } from '../streams/line-splitter.js';

export interface GuardOptions {
  command: string;
  /** Never a secret: argv can be read by everybody on the host. */
  args: string[];
  /** CLOCK_MONOTONIC, ns: `process.hrtime.bigint() + …`. */
  deadlineNs: bigint;
  /** Added to a small base (PATH, HOME, locale …); the service's own environment is not handed on. */
  env?: Record<string, string>;
  cwd?: string;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  /** Characters kept of each stream for the result; lines are handed on all the same. @default 1 MiB */
  maxOutput?: number;
  /** Kills the group when aborted. */
  signal?: AbortSignal;
}

export interface GuardResult {
  /** null where a signal ended it, or it never started. */
  exitCode: number | null;
  /** Killed at the deadline. */
  timedOut: boolean;
  /** Killed by `kill()`, the signal, or since this process let go of it. */
  killed: boolean;
  /** The deadline had passed before the command was started: nothing was done. */
  refused: boolean;
  stdout: string;
  stderr: string;
  /** ms, monotonic, the guard's own start included. */
  tookMs: number;
}

export interface GuardedRun {
  /** Moves the deadline; only ever later, and only while it has not passed. */
  extend(deadlineNs: bigint): void;
  kill(): void;
  /** Settles when the group is gone. @throws COMMAND_FAILED where the command or the guard could not be started. */
  done: Promise<GuardResult>;
}

type Guard = ChildProcessByStdio<Writable, Readable, Readable>;

const BASE_ENVIRONMENT = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'];
/** Output still in the pipes when the command has ended is waited for no longer than this: a daemon may hold them. */
const DRAIN_MS = 250;
/** A command that SIGKILL does not end (sleeping in the kernel) is given up this long after its deadline. */
const UNKILLABLE_MS = 2_000;

/** From dist; where the sources are run themselves (specs), the built guard is used: Node cannot start a .ts file. */
function guardFile(): string {
  const beside = fileURLToPath(new URL('./guard-main.js', import.meta.url));
  if (existsSync(beside)) return beside;
  const built = fileURLToPath(new URL('../../../../dist/libs/bus/src/guard/guard-main.js', import.meta.url));
  if (existsSync(built)) return built;
  throw new MusterError('COMMAND_FAILED', `the guard ${built} is missing: run \`npm run build\``);
}

function environment(extra: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of BASE_ENVIRONMENT) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}

/**
 * Runs a command under the guard: a separate process in its own session that refuses to start past the deadline
 * and SIGKILLs the command's whole group at it, at the death of this process, or on `kill()`, also while this
 * process is stopped. Processes that leave the group by a session of their own are out of its reach.
 */
export function runGuarded(options: GuardOptions): GuardedRun {
  const startedAt = performance.now();
  const guard = spawn(process.execPath, [guardFile()], {
    detached: true,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  }) as Guard;
  const order: GuardOrder = {
    command: options.command,
    args: options.args,
    deadlineNs: options.deadlineNs.toString(),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  };
  // EPIPE: the guard is gone, which its exit tells; nothing is lost with the message.
  guard.stdin.on('error', () => undefined);
  const send = (message: GuardOrder | GuardControl): void => {
    if (guard.stdin.writable) guard.stdin.write(`${JSON.stringify(message)}\n`);
  };
  send(order);

  let deadline = options.deadlineNs;
  let stopped = false;
  const kill = (): void => {
    stopped = true;
    send({ kill: true });
  };
  options.signal?.addEventListener('abort', kill, { once: true });
  if (options.signal?.aborted === true) kill();

  const done = follow(guard, options, { deadline: () => deadline, stopped: () => stopped })
    .then((r) => ({ ...r, tookMs: Math.round(performance.now() - startedAt) }))
    .finally(() => options.signal?.removeEventListener('abort', kill));
  return {
    extend(deadlineNs) {
      if (deadlineNs <= deadline) return;
      deadline = deadlineNs;
      send({ extend: deadlineNs.toString() });
    },
    kill,
    done,
  };
}

async function follow(
  guard: Guard,
  options: GuardOptions,
  own: { deadline: () => bigint; stopped: () => boolean },
): Promise<Omit<GuardResult, 'tookMs'>> {
  const { stdout, stderr } = guard;
  const reports = guard.stdio[3] as Readable;
  const out = collect(stdout, 'stdout', options);
  const err = collect(stderr, 'stderr', options);
  let group: number | undefined;
  let last: GuardReport | undefined;
  const reader = new LineSplitter((line) => {
    const r = JSON.parse(line) as GuardReport;
    if ('started' in r) group = r.started;
    else last = r;
  });
  reports.on('data', (chunk: Buffer) => reader.push(chunk));

  const ended = await new Promise<Error | 'exit' | 'unkillable'>((resolve) => {
    let timer: NodeJS.Timeout;
    const settle = (how: Error | 'exit' | 'unkillable'): void => {
      clearTimeout(timer);
      resolve(how);
    };
    const watch = (): void => {
      const leftMs = Number((own.deadline() - process.hrtime.bigint()) / 1_000_000n) + UNKILLABLE_MS;
      if (leftMs <= 0) settle('unkillable');
      else timer = setTimeout(watch, Math.min(leftMs, 60_000));
    };
    watch();
    guard.once('error', (error) => settle(error));
    // The report pipe ends with the guard; read to its end, so that the last report is not missed.
    reports.once('end', () => settle('exit'));
  });
  if (ended instanceof Error)
    throw new MusterError('COMMAND_FAILED', `the guard could not be started: ${ended.message}`, {}, { cause: ended });

  // Without a last word of the guard (it was killed itself) its command may live on: end it from here.
  if (last === undefined && group !== undefined) killGroup(group);
  if (ended === 'unkillable') guard.kill('SIGKILL');
  const drained = Promise.all([out.ended, err.ended]);
  await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))]);
  stdout.destroy();
  stderr.destroy();

  const streams = { stdout: out.text(), stderr: err.text() };
  if (last !== undefined && 'failed' in last)
    throw new MusterError('COMMAND_FAILED', `${options.command} could not be started: ${last.failed}`, {
      command: options.command,
    });
  // It died before it had begun: where a host runs out of processes or memory it can be forked and no more.
  if (last === undefined && group === undefined && ended === 'exit' && !own.stopped())
    throw new MusterError('COMMAND_FAILED', `the guard of ${options.command} ended before it had started it`, {
      command: options.command,
    });
  if (last !== undefined && 'refused' in last)
    return { exitCode: null, timedOut: false, killed: false, refused: true, ...streams };
  if (last !== undefined && 'exitCode' in last)
    return { exitCode: last.exitCode, timedOut: last.timedOut, killed: last.killed, refused: false, ...streams };
  return { exitCode: null, timedOut: ended === 'unkillable', killed: ended === 'exit', refused: false, ...streams };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function collect(
  stream: Readable,
  name: 'stdout' | 'stderr',
  options: GuardOptions,
): { text(): string; ended: Promise<void> } {
  const most = options.maxOutput ?? 1024 * 1024;
  let text = '';
  const splitter = new LineSplitter((line) => {
    if (text.length < most) text = (text + line + '\n').slice(0, most);
    options.onLine?.(line, name);
  });
  stream.on('data', (chunk: Buffer) => splitter.push(chunk));
  const ended = new Promise<void>((resolve) => {
    stream.once('close', () => {
      splitter.end();
      resolve();
    });
  });
  return { text: () => text, ended };
}

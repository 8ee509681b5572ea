// oxlint-disable-next-line no-restricted-imports -- the agent, on every node, loads no library for it
import { spawn } from 'node:child_process';
import type { Clock } from '#contracts/ports/clock.js';

export interface CommandResult {
  /** -1: it could not be started, or was killed (by its deadline too). */
  code: number;
  stdout: string;
  stderr: string;
}

/** ms; a start may wait for its ExecStartPre, a stop for the service's own time to end. */
export const SYSTEMCTL_LIMIT = { read: 5_000, act: 100_000 };

/** Runs a command to its end or its deadline; the output is cut at 1 MiB. */
export function runCommand(clock: Clock, command: string, args: string[], limitMs: number): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: process.env });
    let stdout = '';
    let stderr = '';
    const timer = clock.after(limitMs, () => {
      stderr += `${command} did not end within ${limitMs} ms`;
      child.kill('SIGKILL');
    });
    const end = (code: number): void => {
      timer.cancel();
      resolve({ code, stdout, stderr });
    };
    child.stdout.on('data', (b: Buffer) => (stdout = (stdout + b.toString('utf8')).slice(0, 1 << 20)));
    child.stderr.on('data', (b: Buffer) => (stderr = (stderr + b.toString('utf8')).slice(0, 1 << 20)));
    child.on('error', (e) => {
      stderr += e.message;
      end(-1);
    });
    child.on('close', (code) => end(code ?? -1));
  });
}

export const systemctl = (clock: Clock, args: string[], limitMs: number): Promise<CommandResult> =>
  runCommand(clock, 'systemctl', args, limitMs);

/** Of these the main process is gone; others of the unit may be left after a stop that timed out, or by KillMode=process. */
const GONE: ReadonlySet<string> = new Set(['inactive', 'failed', 'unknown']);
/** `TasksCurrent` of a unit without a cgroup, by version of systemd. */
const NO_TASKS: ReadonlySet<string> = new Set(['', '0', '[not set]', '18446744073709551615']);

/** `starting`: its gate, or another command before its own, may still refuse it. */
export type UnitState = 'running' | 'starting';

/**
 * Which of the units run, or may run: starting and stopping ones count, and ended ones of which a process is left.
 * Throws where systemd gave no answer for each: nobody may take that for "nothing runs".
 */
export async function runningUnits(clock: Clock, units: string[]): Promise<Map<string, UnitState>> {
  if (units.length === 0) return new Map();
  const { stdout, stderr } = await systemctl(clock, ['is-active', ...units], SYSTEMCTL_LIMIT.read);
  const states = stdout.split('\n').filter((l) => l !== '');
  if (states.length !== units.length) throw new Error(`systemctl is-active: ${stderr.trim() || 'no answer'}`);
  const ended = units.filter((_, i) => GONE.has(states[i] as string));
  const left = await withProcesses(clock, ended);
  return new Map(
    units.flatMap((unit, i) => {
      if (ended.includes(unit) && !left.has(unit)) return [];
      return [[unit, states[i] === 'activating' ? 'starting' : 'running'] as const];
    }),
  );
}

async function withProcesses(clock: Clock, units: string[]): Promise<Set<string>> {
  if (units.length === 0) return new Set();
  const { code, stdout, stderr } = await systemctl(
    clock,
    ['show', '--property=Id,TasksCurrent', ...units],
    SYSTEMCTL_LIMIT.read,
  );
  const blocks = stdout.trim().split(/\n{2,}/);
  if (code !== 0 || blocks.length !== units.length)
    throw new Error(`systemctl show: ${stderr.trim() || 'no answer for each unit'}`);
  return new Set(units.filter((_, i) => !NO_TASKS.has(/^TasksCurrent=(.*)$/m.exec(blocks[i] as string)?.[1] ?? '')));
}

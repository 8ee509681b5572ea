import { spawn, type ChildProcess } from 'node:child_process';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuardControl, GuardOrder, GuardReport } from './guard-protocol.js';

/*
 * The guard: a process of its own, in its own session, between a service and a command that must not outlive its
 * right to act. It needs nothing from its parent once it has its order, so it works while the parent is stopped.
 * The command writes straight into the parent's pipes: a guard that relayed output could be blocked by a parent
 * that does not read, and would then miss the deadline.
 */

const REPORT_FD = 3;
const NS_PER_MS = 1_000_000n;

let child: ChildProcess | undefined;
let deadline = 0n;
let timedOut = false;
let killed = false;

/** A report is a few bytes on a pipe of its own; where the parent is gone there is nobody left to tell. */
function report(r: GuardReport): void {
  try {
    writeSync(REPORT_FD, `${JSON.stringify(r)}\n`);
  } catch {
    killed = true;
  }
}

/** The whole group: what the command started dies with it. ESRCH: nothing of it is left. */
function killGroup(): void {
  const pid = child?.pid;
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const overdue = (): boolean => process.hrtime.bigint() >= deadline;

/** A timer may fire a millisecond early against the clock: it is armed anew until the deadline has passed. */
function watchDeadline(): void {
  if (overdue()) {
    timedOut = true;
    killGroup();
    return;
  }
  const leftMs = Number((deadline - process.hrtime.bigint()) / NS_PER_MS) + 1;
  setTimeout(watchDeadline, Math.min(leftMs, 60_000));
}

function start(order: GuardOrder): void {
  deadline = BigInt(order.deadlineNs);
  // The last check of the clock before the command exists; what is lost between here and its exec is what the
  // quarantine of the power commands allows for.
  if (overdue()) {
    report({ refused: true });
    process.exit(0);
  }
  child = spawn(order.command, order.args, {
    ...(order.cwd === undefined ? {} : { cwd: order.cwd }),
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child.once('error', (error) => {
    report({ failed: error.message });
    process.exit(0);
  });
  child.once('exit', (exitCode) => {
    killGroup();
    report({ exitCode, timedOut, killed });
    process.exit(0);
  });
  if (child.pid !== undefined) report({ started: child.pid });
  watchDeadline();
}

function stop(): void {
  killed = true;
  if (child === undefined) process.exit(0);
  killGroup();
}

function listen(): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = JSON.parse(line) as GuardOrder | GuardControl;
    if ('command' in message) start(message);
    else if ('kill' in message) stop();
    else if (BigInt(message.extend) > deadline) deadline = BigInt(message.extend);
  });
  lines.once('close', stop);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

listen();

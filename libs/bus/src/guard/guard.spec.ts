import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daemon } from '../testing/daemon.js';
import { runGuarded } from './guard.js';

const inMs = (ms: number): bigint => process.hrtime.bigint() + BigInt(ms) * 1_000_000n;
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
async function until(what: () => boolean, limitMs = 30_000): Promise<number> {
  const start = performance.now();
  while (!what()) {
    if (performance.now() - start > limitMs) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return performance.now() - start;
}

describe('guard', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-guard-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('hands on the lines, the exit code and nothing of the service’s own environment', async () => {
    process.env['MUSTER_SPEC_SECRET'] = 'must not be seen';
    const lines: string[] = [];
    const r = await runGuarded({
      command: 'sh',
      args: ['-c', 'echo one; echo "two $GIVEN $MUSTER_SPEC_SECRET"; printf last >&2; exit 3'],
      deadlineNs: inMs(5000),
      env: { GIVEN: 'given' },
      onLine: (line, stream) => lines.push(`${stream}:${line}`),
    }).done;
    delete process.env['MUSTER_SPEC_SECRET'];
    expect(r).toMatchObject({ exitCode: 3, timedOut: false, killed: false, refused: false, stderr: 'last\n' });
    expect(r.stdout).toBe('one\ntwo given \n');
    expect(lines.sort()).toEqual(['stderr:last', 'stdout:one', 'stdout:two given ']);
  });

  it('refuses to start a command whose deadline has passed', async () => {
    const r = await runGuarded({ command: 'touch', args: [join(dir, 'ran')], deadlineNs: inMs(-1) }).done;
    expect(r.refused).toBe(true);
    expect(existsSync(join(dir, 'ran'))).toBe(false);
  });

  it('refuses also when the deadline passes between the order and the start', async () => {
    const r = await runGuarded({ command: 'touch', args: [join(dir, 'ran')], deadlineNs: inMs(1) }).done;
    expect(r.refused).toBe(true);
    expect(existsSync(join(dir, 'ran'))).toBe(false);
  });

  it('kills the whole group at the deadline', async () => {
    const r = await runGuarded({
      command: 'sh',
      args: ['-c', 'sleep 60 & echo $! $$; wait'],
      deadlineNs: inMs(2000),
    }).done;
    expect(r).toMatchObject({ exitCode: null, timedOut: true });
    expect(r.tookMs).toBeGreaterThanOrEqual(1990);
    expect(r.tookMs).toBeLessThan(5000);
    const pids = r.stdout.trim().split(' ').map(Number);
    expect(pids).toHaveLength(2);
    await until(() => pids.every((pid) => !alive(pid)));
  });

  it('ends what the command left behind in its group, and does not wait for pipes that it holds', async () => {
    const r = await runGuarded({ command: 'sh', args: ['-c', 'sleep 60 & echo $!'], deadlineNs: inMs(30_000) }).done;
    expect(r).toMatchObject({ exitCode: 0, timedOut: false });
    await until(() => !alive(Number(r.stdout)));
  });

  it('lets the deadline be moved, but only to later', async () => {
    const run = runGuarded({ command: 'sh', args: ['-c', 'sleep 2.5; echo done'], deadlineNs: inMs(2000) });
    run.extend(inMs(100));
    run.extend(inMs(30_000));
    expect(await run.done).toMatchObject({ exitCode: 0, timedOut: false, stdout: 'done\n' });
  });

  it('kills on request and by signal', async () => {
    const run = runGuarded({
      command: 'sh',
      args: ['-c', 'echo up; sleep 60'],
      deadlineNs: inMs(30_000),
      onLine: () => run.kill(),
    });
    expect(await run.done).toMatchObject({ killed: true, timedOut: false, exitCode: null });
    const stop = new AbortController();
    stop.abort();
    const aborted = runGuarded({ command: 'sleep', args: ['60'], deadlineNs: inMs(30_000), signal: stop.signal });
    expect(await aborted.done).toMatchObject({ killed: true, exitCode: null });
    const lost = new AbortController();
    const running = runGuarded({
      command: 'sh',
      args: ['-c', 'echo up; exec sleep 60'],
      deadlineNs: inMs(30_000),
      signal: lost.signal,
      onLine: () => lost.abort(),
    });
    expect(await running.done).toMatchObject({ killed: true, timedOut: false, exitCode: null });
  });

  it('ends the command of a guard that was killed itself', async () => {
    let lines = 0;
    const r = await runGuarded({
      command: 'sh',
      args: ['-c', 'for n in 1 2 3 4 5; do echo $$ $PPID; sleep 0.2; done; exec sleep 60'],
      deadlineNs: inMs(30_000),
      // Its first line may be here before the guard's word that it has begun: by the fifth that is here, too.
      onLine: (line) => ++lines === 5 && process.kill(Number(line.split(' ')[1]), 'SIGKILL'),
    }).done;
    expect(r).toMatchObject({ killed: true, timedOut: false, exitCode: null });
    await until(() => !alive(Number(r.stdout.split(' ')[0])));
  });

  it('says that a command was not started whose guard died before it began', async () => {
    const env = { NODE_OPTIONS: '--no-such-option' };
    await expect(runGuarded({ command: 'true', args: [], env, deadlineNs: inMs(5000) }).done).rejects.toMatchObject({
      code: 'COMMAND_FAILED',
      message: 'the guard of true ended before it had started it',
    });
  });

  it('says which command could not be started', async () => {
    await expect(runGuarded({ command: 'no-such-tool', args: [], deadlineNs: inMs(5000) }).done).rejects.toMatchObject({
      code: 'COMMAND_FAILED',
      facts: { command: 'no-such-tool' },
    });
  });

  it('keeps the first part of a flood of output and goes on', async () => {
    let lines = 0;
    const r = await runGuarded({
      command: 'sh',
      args: ['-c', 'seq 200000'],
      deadlineNs: inMs(20_000),
      maxOutput: 1000,
      onLine: () => lines++,
    }).done;
    expect(r.exitCode).toBe(0);
    expect(lines).toBe(200_000);
    expect(r.stdout).toHaveLength(1000);
  });

  /** A process that runs a command under the guard, in a group of its own that can be stopped and killed from outside. */
  async function guardedParent(script: string, limitMs: number): Promise<{ pid: number; command: number }> {
    const file = join(dir, 'parent.mjs');
    writeFileSync(
      file,
      `import { runGuarded } from '${join(process.cwd(), 'dist/libs/bus/src/guard/guard.js')}';
       const run = runGuarded({ command: 'sh', args: ['-c', ${JSON.stringify(script)}],
         deadlineNs: process.hrtime.bigint() + ${limitMs}n * 1000000n, onLine: (l) => console.log(l) });
       await run.done;`,
    );
    const parent = daemon(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const command = await new Promise<number>((resolve, reject) => {
      createInterface({ input: parent.stdout }).once('line', (line) => resolve(Number(line)));
      parent.once('exit', () => reject(new Error('the parent ended early')));
    });
    if (parent.pid === undefined) throw new Error('the parent has no pid');
    return { pid: parent.pid, command };
  }

  it('kills at the deadline while the parent is stopped and its pipes are full', async () => {
    const { pid, command } = await guardedParent('echo $$; exec seq 1 999999999', 4000);
    try {
      // As a terminal does it: whatever is in its group stands still with it.
      process.kill(-pid, 'SIGSTOP');
      const took = await until(() => !alive(command));
      expect(took).toBeGreaterThan(1000);
      expect(took).toBeLessThan(7000);
    } finally {
      process.kill(-pid, 'SIGKILL');
    }
  });

  it('kills at once when the parent dies', async () => {
    const { pid, command } = await guardedParent('echo $$; exec sleep 60', 30_000);
    process.kill(-pid, 'SIGKILL');
    expect(await until(() => !alive(command))).toBeLessThan(5000);
  });
});

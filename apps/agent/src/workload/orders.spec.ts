import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { GateAnswer } from '#contracts/wire/peers.js';
import { StatusSocket } from '../control/status-socket.js';
import { withLock } from './lock.js';
import { startWorkload, stopWorkload } from './orders.js';
import { listRunning } from './running.js';

/** Keeps the state of each unit in a file; a unit with a `.stuck` file survives its stop, one with `.bad` does not start. */
const SYSTEMCTL = `#!/bin/sh
verb=$1; shift; cd "$MUSTER_ROOT/units" || exit 1
[ "$verb" = is-active ] || [ "$verb" = show ] || echo "$verb $*" >>../acts
case $verb in
  start) [ -e "$1.bad" ] && { echo "$1 failed" >&2; exit 1; }; echo active >"$1" ;;
  stop) [ -e "$1" ] || exit 5; [ -e "$1.stuck" ] && exit 0; echo inactive >"$1" ;;
  is-active) for u in "$@"; do cat "$u" 2>/dev/null || echo inactive; done ;;
  show) shift; for u in "$@"; do printf 'Id=%s\\nTasksCurrent=%s\\n\\n' "$u" "$(cat "$u.tasks" 2>/dev/null || echo '[not set]')"; done ;;
esac
`;

describe('orders about workloads', () => {
  let root: string;
  let agent: StatusSocket;
  let gate: GateAnswer;
  /** Generations that the gate was asked for. */
  let asked: unknown[];
  /** Comes before its answer. */
  let meanwhile: () => Promise<void>;
  const { PATH } = process.env;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'muster-orders-'));
    await mkdir(join(root, 'units'));
    await mkdir(join(root, 'bin'));
    await writeFile(join(root, 'bin/systemctl'), SYSTEMCTL);
    await chmod(join(root, 'bin/systemctl'), 0o755);
    process.env['MUSTER_ROOT'] = root;
    process.env['PATH'] = `${join(root, 'bin')}:${PATH}`;
    gate = { allowed: true, generation: 3, reason: '' };
    asked = [];
    meanwhile = () => Promise.resolve();
    agent = new StatusSocket(
      join(root, 'run/muster/agent.sock'),
      async (r) => {
        if (r.op !== 'gate') return { ok: true };
        asked.push(r.generation);
        await meanwhile();
        return gate;
      },
      { info() {}, warn() {}, error() {} },
    );
    await agent.open();
  });

  afterEach(async () => {
    agent.close();
    delete process.env['MUSTER_ROOT'];
    process.env['PATH'] = PATH;
    await rm(root, { recursive: true, force: true });
  });

  const acts = (): Promise<string> => readFile(join(root, 'acts'), 'utf8').catch(() => '');

  it('starts what the gate allows, keeps its generation, and shows it as running', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    expect(await acts()).toBe('enable muster-workload-db.service\nstart muster-workload-db.service\n');
    expect(asked).toEqual([3]);
    expect(await listRunning(systemClock)).toEqual([{ name: 'db', generation: 3, gated: false }]);
  });

  it('shows one whose start is on its way as such: its gate may refuse it yet', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    await writeFile(join(root, 'units/muster-workload-db.service'), 'activating\n');
    expect(await listRunning(systemClock)).toEqual([{ name: 'db', generation: 3, starting: true, gated: false }]);
  });

  it('starts nothing that the gate refuses, and leaves no trace of the order', async () => {
    gate = { allowed: false, reason: 'it belongs to another node' };
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'GATE' });
    agent.close();
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'GATE' });
    expect(await acts()).toBe('');
    expect(await listRunning(systemClock)).toEqual([]);
  });

  it('refuses an older generation, to start and to stop', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    const done = await acts();
    await expect(startWorkload(systemClock, { name: 'db', generation: 2 })).rejects.toMatchObject({ code: 'STALE' });
    await expect(stopWorkload(systemClock, { name: 'db', generation: 2 })).rejects.toMatchObject({ code: 'STALE' });
    expect(await acts()).toBe(done);
  });

  it('refuses a start that comes after the stop of a newer generation', async () => {
    await stopWorkload(systemClock, { name: 'db', generation: 4 });
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'STALE' });
    expect(await listRunning(systemClock)).toEqual([]);
  });

  it('refuses an older generation also where the newer start or stop failed', async () => {
    await writeFile(join(root, 'units/x.service.bad'), '');
    const failing = startWorkload(systemClock, { name: 'db', generation: 4, unit: 'x.service' });
    await expect(failing).rejects.toMatchObject({ code: 'FAILED' });
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'STALE' });
    await startWorkload(systemClock, { name: 'web', generation: 3 });
    await writeFile(join(root, 'units/muster-workload-web.service.stuck'), '');
    await expect(stopWorkload(systemClock, { name: 'web', generation: 4 })).rejects.toMatchObject({ code: 'FAILED' });
    await expect(startWorkload(systemClock, { name: 'web', generation: 3 })).rejects.toMatchObject({ code: 'STALE' });
  });

  it('lets no start take effect after a newer stop that came while it asked the gate', async () => {
    const stops: Promise<unknown>[] = [];
    meanwhile = async () => {
      const stop = stopWorkload(systemClock, { name: 'db', generation: 4 });
      stops.push(stop);
      // Its turn is after the start.
      await Promise.race([stop, pause(500)]);
    };
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    await Promise.all(stops);
    expect(await listRunning(systemClock)).toEqual([]);
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'STALE' });
  });

  it('takes a stop for done only when nothing runs any more', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    await writeFile(join(root, 'units/muster-workload-db.service.stuck'), '');
    await expect(stopWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'FAILED' });
    expect(await listRunning(systemClock)).toEqual([{ name: 'db', generation: 3, gated: false }]);
    await rm(join(root, 'units/muster-workload-db.service.stuck'));
    await stopWorkload(systemClock, { name: 'db', generation: 3 });
    expect(await listRunning(systemClock)).toEqual([]);
  });

  it('counts an ended unit as running while a process of it is left', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    const tasks = join(root, 'units/muster-workload-db.service.tasks');
    await writeFile(tasks, '2');
    await expect(stopWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toMatchObject({ code: 'FAILED' });
    await writeFile(join(root, 'units/muster-workload-db.service'), 'failed');
    expect(await listRunning(systemClock)).toEqual([{ name: 'db', generation: 3, gated: false }]);
    await writeFile(tasks, '0');
    await stopWorkload(systemClock, { name: 'db', generation: 3 });
    expect(await listRunning(systemClock)).toEqual([]);
  });

  it('says why a unit did not start', async () => {
    await writeFile(join(root, 'units/x.service.bad'), '');
    const order = startWorkload(systemClock, { name: 'db', generation: 3, unit: 'x.service' });
    await expect(order).rejects.toThrow('x.service failed');
  });

  it('carries out one order on a workload at a time', async () => {
    const file = join(root, 'a.lock');
    const seen: string[] = [];
    const turn = (name: string): Promise<void> =>
      withLock(file, 5, async () => {
        seen.push(`${name} in`);
        await new Promise(setImmediate);
        seen.push(`${name} out`);
      });
    await Promise.all([turn('one'), turn('two'), turn('three')]);
    for (let i = 0; i < seen.length; i += 2) expect(seen[i + 1]).toBe(seen[i]?.replace('in', 'out'));
    await withLock(file, 5, () => expect(withLock(file, 0, () => Promise.resolve())).rejects.toThrow('held'));
  });

  it('does not take a broken file for "never started"', async () => {
    await startWorkload(systemClock, { name: 'db', generation: 3 });
    await writeFile(join(root, 'var/lib/muster/workloads/db.json'), '{"na');
    await expect(startWorkload(systemClock, { name: 'db', generation: 3 })).rejects.toThrow('JSON');
    await expect(listRunning(systemClock)).rejects.toThrow('JSON');
  });
});

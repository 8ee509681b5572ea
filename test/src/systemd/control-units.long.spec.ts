import { setTimeout as pause } from 'node:timers/promises';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, type Bus } from '#bus';
import { daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { hearWords, type HeardWords } from '../../../libs/service/src/testing/notify-socket.js';
import { all, ours, root } from './control-units.js';

/** Rejects where a service has ended, and what it had to say has not come within 5 s after. */
async function endedWordless(service: PromiseLike<{ exitCode?: number }>): Promise<never> {
  const { exitCode } = await service;
  await pause(5_000, undefined, { ref: false });
  throw new Error(`it ended with ${exitCode}, and did not say that it stops`);
}

describe('a service with what its unit shows it', () => {
  let nats: TestNats;
  let bus: Bus;
  let dir: string;
  /** All at once: each mostly waits. */
  const runs = new Map<string, Promise<void>>();

  beforeAll(async () => {
    nats = await startTestNats({ users: true });
    dir = mkdtempSync(join(tmpdir(), 'muster-units-'));
    bus = await connectBus({
      name: 'spec',
      servers: [nats.url],
      credentials: JSON.parse(readFileSync(join(nats.dir, 'creds', 'inventory.json'), 'utf8')) as never,
    });
    // The others read through an inventory, and that of the units ends before some have begun.
    await bus.createBuckets();
    for (const unit of ours) {
      const run = startAndEnd(unit);
      // Each test has its own failure to tell.
      run.catch(() => undefined);
      runs.set(unit, run);
    }
  });
  afterAll(async () => {
    await Promise.allSettled(runs.values());
    await bus.close();
    await nats.stop();
    rmSync(dir, { recursive: true });
  });

  /** A folder of the unit's own stands for each that systemd would make or show; the program is the built one. */
  function paths(unit: string): (text: string) => string {
    const own = join(dir, unit);
    return (text) =>
      text
        .replaceAll('/etc/muster', join(own, 'etc'))
        .replaceAll('/var/lib/muster', join(own, 'state'))
        .replaceAll('/opt/muster', root);
  }

  function furnish(unit: string): void {
    const at = paths(unit);
    for (const bound of all(unit, 'BindReadOnlyPaths')) {
      const from = bound.replace(/^-/, '').replace('/etc/muster', nats.dir);
      if (bound.startsWith('-') && !existsSync(from)) continue;
      const to = at(bound.replace(/^-/, ''));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(from, to, { recursive: true });
    }
    for (const state of all(unit, 'StateDirectory')) mkdirSync(at(`/var/lib/${state}`), { recursive: true });
  }

  async function startAndEnd(unit: string): Promise<void> {
    furnish(unit);
    const at = paths(unit);
    const socket = join(dir, unit, 'notify');
    const systemd = await hearWords(socket);
    try {
      await withSystemd(unit, at, socket, systemd);
    } finally {
      await systemd.close();
    }
  }

  async function withSystemd(unit: string, at: (text: string) => string, socket: string, systemd: HeardWords) {
    const [program = '', ...args] = all(unit, 'ExecStart').map(at);
    const own = Object.fromEntries(all(unit, 'Environment').map((pair) => at(pair).split('='))) as object;
    const service = daemon(program === '/usr/bin/node' ? process.execPath : program, args, {
      cwd: '/',
      env: {
        PATH: process.env['PATH'],
        HOME: '/',
        ...own,
        MUSTER_NATS: nats.url,
        MUSTER_LISTEN: '127.0.0.1:0',
        MUSTER_LOG_LEVEL: 'error',
        NOTIFY_SOCKET: socket,
        WATCHDOG_USEC: String(3_000_000),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    service.stderr.setEncoding('utf8').on('data', (more: string) => (said += more));
    let over = false;
    const early = service.then(({ exitCode }) => {
      over = true;
      throw new Error(`it ended with ${exitCode}: ${said}`);
    });
    early.then(undefined, () => undefined);
    try {
      await Promise.race([systemd.until('READY=1'), early]);
      await Promise.race([systemd.until('WATCHDOG=1'), early]);
      service.kill('SIGTERM');
      await Promise.race([systemd.until('STOPPING=1'), endedWordless(service)]);
      expect([(await service).exitCode, said]).toEqual([0, '']);
    } finally {
      if (!over) service.kill('SIGKILL');
      await service;
    }
  }

  it.each(ours)('starts, says so, says that it works, and ends in good order: %s', (unit) => runs.get(unit));
});

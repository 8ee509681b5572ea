import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { daemon } from '#bus/testing/daemon.js';
import { judgeHealth, serveHealth, type Health, type HealthSocket } from './health-socket.js';

const check = fileURLToPath(new URL('../../../../deploy/docker/healthcheck.mjs', import.meta.url));

describe('the health of a service', () => {
  it('is good while nothing stands still and NATS is there', () => {
    expect(judgeHealth([], true)).toEqual({ status: 'ok' });
    expect(judgeHealth([], false)).toEqual({ status: 'disconnected', detail: 'no connection to NATS' });
    expect(judgeHealth([{ task: 'lease fencer', forMs: 12_000 }], false)).toEqual({
      status: 'stalled',
      detail: 'stands still: lease fencer for 12 s',
    });
  });
});

describe('the health check of a container', () => {
  let dir: string;
  let socket: HealthSocket | undefined;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-health-'));
  });
  afterEach(async () => {
    await socket?.close();
    socket = undefined;
    rmSync(dir, { recursive: true });
  });
  const path = (): string => join(dir, 'health.sock');
  const ask = async (): Promise<[number | undefined, string]> => {
    const { exitCode, stdout } = await execa(process.execPath, [check], {
      env: { MUSTER_HEALTH: path() },
      reject: false,
    });
    return [exitCode, stdout];
  };

  it('passes while the service says that it works', async () => {
    let health: Health = { status: 'ok' };
    socket = await serveHealth(path(), () => health);
    expect(await ask()).toEqual([0, '']);
    health = { status: 'disconnected', detail: 'no connection to NATS' };
    expect(await ask()).toEqual([1, 'disconnected: no connection to NATS']);
    expect(readFileSync(join(dir, 'pid'), 'utf8')).toBe(`${process.pid}\n`);
  });

  it('takes over the socket of a process that was killed', async () => {
    const old = daemon(process.execPath, ['-e', `require('net').createServer().listen(${JSON.stringify(path())})`], {});
    for (let [, said] = await ask(); said.includes('ENOENT'); [, said] = await ask());
    old.kill('SIGKILL');
    await old;
    expect(await ask()).toEqual([1, expect.stringContaining('starting: ')]);
    socket = await serveHealth(path(), () => ({ status: 'ok' }));
    expect(await ask()).toEqual([0, '']);
  });

  it('never kills what is only without NATS, or was not up yet', async () => {
    for (const status of ['starting', 'starting', 'starting', 'starting'])
      expect((await ask())[1]).toMatch(new RegExp(`^${status}: `));
    socket = await serveHealth(path(), () => ({ status: 'disconnected' }));
    for (let i = 0; i < 4; i++) expect(await ask()).toEqual([1, 'disconnected']);
  });

  it('kills a process that stands still at the third time in a row, and not before', async () => {
    const code = `
      const { serveHealth } = await import(${JSON.stringify(new URL('../../../../dist/libs/service/src/watchdog/health-socket.js', import.meta.url).href)});
      let asked = 0;
      setInterval(() => {}, 1000);
      await serveHealth(${JSON.stringify(path())}, () => ({ status: ++asked === 3 ? 'ok' : 'stalled' }));
      console.log('up');`;
    const service = daemon(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => service.stdout.once('data', resolve));
    for (const status of ['stalled', 'stalled', '', 'stalled', 'stalled'])
      expect(await ask()).toEqual([status === '' ? 0 : 1, status]);
    expect((await ask())[1]).toContain('killed after 3 failed checks in a row');
    expect((await service).signal).toBe('SIGKILL');
  });
});

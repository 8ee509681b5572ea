import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import type { AlarmRecord } from '#contracts';
import { until as seen } from '../../inventory/src/testing/until.js';

const program = fileURLToPath(new URL('../../../dist/apps/standalone/src/main.js', import.meta.url));
const MiB = 1024 * 1024;

/** Root alone may mount. */
const mayMount = (): boolean => {
  const at = mkdtempSync(join(tmpdir(), 'muster-mount-'));
  try {
    execaSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at]);
    execaSync('umount', [at]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true });
  }
};

(mayMount() ? describe : describe.skip)('a disk under NATS that is full', () => {
  const root = mkdtempSync(join(tmpdir(), 'muster-full-'));
  const data = join(root, 'data');
  const store = join(data, 'nats');
  let child: Daemon;
  let url: string;

  /** Exactly what it holds, or all of it again: no ballast has to be written to fill it. */
  const resize = (bytes: number): void =>
    void execaSync('mount', ['-o', `remount,size=${bytes}`, store], { stdio: 'ignore' });
  const held = (): number => {
    const { blocks, bfree, bsize } = statfsSync(store);
    return (blocks - bfree) * bsize;
  };
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(url + path);
    return { status: answer.status, text: await answer.text() };
  };
  /** ms until it holds. */
  const until = async (what: string, holds: () => Promise<boolean>): Promise<number> => {
    const began = performance.now();
    await seen(holds, what, { everyMs: 100 });
    return performance.now() - began;
  };
  const post = (label: string): Promise<Response> =>
    fetch(`${url}/v1/nodes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        label,
        serial: '1',
        networks: { management: { address: label === 'a' ? '127.0.0.9' : '127.0.0.10' } },
      }),
    });

  beforeAll(async () => {
    mkdirSync(store, { recursive: true });
    execaSync('mount', ['-t', 'tmpfs', '-o', `size=${256 * MiB}`, 'tmpfs', store]);
    const [http, nats] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${http}`;
    const args = ['--data', data, '--listen', `127.0.0.1:${http}`, '--nats-listen', `127.0.0.1:${nats}`];
    child = daemon(process.execPath, [program, ...args], { stdio: 'ignore' });
    await until('the gateway to be ready', () =>
      get('/readyz').then(
        (a) => a.status === 200,
        () => false,
      ),
    );
  }, 60_000);
  afterAll(async () => {
    child.kill('SIGKILL');
    await child;
    await until('the disk to be let go', () =>
      Promise.resolve(execaSync('umount', [store], { reject: false }).exitCode === 0),
    );
    rmSync(root, { recursive: true, force: true });
  });

  it('is told at 80 %, before it is full, until there is room again', async () => {
    const standing = async (): Promise<string[]> =>
      (JSON.parse((await get('/v1/alarms')).text) as { items: AlarmRecord[] }).items
        .filter((a) => a.code === 'store-space' && a.cleared === undefined)
        .map((a) => a.message);
    await until('the alarms to be read', () => standing().then((told) => told.length === 0));
    writeFileSync(join(store, 'ballast'), Buffer.alloc(64 * MiB));
    resize(Math.ceil(held() / 0.85));
    await until('the disk to be told', async () => (await standing()).length === 1);
    expect((await standing())[0]).toContain(store);
    expect(JSON.parse((await get('/healthz')).text)).toEqual({ status: 'ok' });
    rmSync(join(store, 'ballast'));
    resize(256 * MiB);
    await until('that to be over', async () => (await standing()).length === 0);
  }, 60_000);

  it('is named by the gateway, and Muster goes on by itself, with all that it knew, once there is room again', async () => {
    // Ready is who answers reads: workers come a moment later.
    await until('a node to be taken', async () => (await post('a')).status === 201);
    resize(held());
    const named = await until('the disk to be named', async () =>
      (await get('/healthz')).text.includes('The disk under NATS is full: '),
    );
    expect(named).toBeLessThan(5_000);
    const refused = await post('b');
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      code: 'BUS_UNAVAILABLE',
      detail: expect.stringContaining(`at ${store}. Make room there; Muster then goes on by itself within 15 s.`),
    });
    expect((await get('/v1/status')).text).toContain('The disk under NATS is full: ');
    expect((await get('/readyz')).text).toContain('The disk under NATS is full: ');

    resize(256 * MiB);
    const healed = await until('a node to be taken again', async () => (await post('b')).status === 201);
    expect(healed).toBeLessThan(15_000);
    const { text } = await get('/v1/status');
    expect(JSON.parse(text)).toMatchObject({ nodes: { total: 2 } });
    expect(JSON.parse((await get('/healthz')).text)).toEqual({ status: 'ok' });
  }, 90_000);
});

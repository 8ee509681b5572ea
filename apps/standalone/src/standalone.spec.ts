import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectBus, credentialsFile, initCluster, readCredentials } from '#bus';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import { processesWith } from '#bus/testing/processes.js';
import { EmbeddedNats } from './embedded-nats.js';
import { parseOptions } from './options.js';

const program = fileURLToPath(new URL('../../../dist/apps/standalone/src/main.js', import.meta.url));

/** Pids of the nats-servers that run on a folder. */
const natsServersOn = (dir: string): number[] =>
  processesWith(dir)
    .filter(({ command }) => command.startsWith('nats-server '))
    .map(({ pid }) => pid);

describe('Muster on one machine', () => {
  let dir: string;
  let http: number;
  let nats: number;
  let child: Daemon | undefined;
  let output: NodeJS.ReadableStream;
  let stderr: string;
  /** Exit code and signal. */
  let ended: Promise<unknown[]>;

  /** The built program as `npm start` runs it, with ports and a folder of its own. */
  const run = (...more: string[]): void => start('--nats-listen', `127.0.0.1:${nats}`, ...more);
  const start = (...more: string[]): void => {
    const own = ['--data', dir, '--listen', `127.0.0.1:${http}`];
    stderr = '';
    const started = daemon(process.execPath, [program, ...own, ...more], { stdio: ['ignore', 'ignore', 'pipe'] });
    output = started.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    ended = started.then(({ exitCode, signal }) => [exitCode, signal]);
    child = started;
  };
  const says = async (words: string): Promise<void> => {
    while (!stderr.includes(words)) {
      const more = await Promise.race([once(output, 'data'), ended.then(() => undefined)]);
      if (more === undefined && !stderr.includes(words)) throw new Error(`it ended: ${stderr}`);
    }
  };
  const status = (): Promise<Response> => fetch(`http://127.0.0.1:${http}/v1/status`);

  beforeEach(async () => {
    dir = join(mkdtempSync(join(tmpdir(), 'muster-standalone-')), 'data');
    [http, nats] = [await freePort(), await freePort()];
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await ended;
    child = undefined;
    rmSync(join(dir, '..'), { recursive: true, force: true });
  });

  it('comes up from nothing at an address of IPv6, survives the end of its NATS server, opens NATS there again, and leaves nothing running', async () => {
    const where = (): string => /^listen: .*$/m.exec(readFileSync(join(dir, 'nats.conf'), 'utf8'))?.[0] ?? '';
    start('--nats-listen', `[::1]:${nats}`);
    await says('ready');
    expect(await (await status()).json()).toMatchObject({ fencing: { mode: 'observe' }, nodes: { total: 0 } });
    const create = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${http}/v1/nodes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ label: 'a', serial: '1', networks: { management: { address: '127.0.0.9' } } }),
      });
    // Inventory may not have seen its provisioner yet.
    let created = await create();
    while (created.status === 503) created = await create();
    expect(created.status).toBe(201);

    const [killed] = natsServersOn(dir);
    const at = performance.now();
    process.kill(killed!, 'SIGKILL');
    await says('started again');
    let answer = await status();
    while (answer.status !== 200) answer = await status();
    // Its own word is 2 s; what else runs on this machine is not ours to say.
    expect(performance.now() - at).toBeLessThan(15_000);
    expect(await answer.json()).toMatchObject({ nodes: { total: 1 } });

    child?.kill('SIGTERM');
    expect(await ended).toEqual([0, undefined]);
    expect(natsServersOn(dir)).toEqual([]);
    expect(where()).toBe(`listen: "[::1]:${nats}"`);

    // Where it was told once, also when it is started again without the option; that NATS goes with it when it is killed.
    start();
    await says('ready');
    expect(where()).toBe(`listen: "[::1]:${nats}"`);
    expect(await (await status()).json()).toMatchObject({ nodes: { total: 1 } });
    const [server] = natsServersOn(dir);
    child?.kill('SIGKILL');
    await ended;
    // The kernel tells it at once; it writes its store down before it goes.
    for (let i = 0; i < 1200 && existsSync(`/proc/${server}`); i++) await new Promise((r) => setTimeout(r, 25));
    expect(natsServersOn(dir)).toEqual([]);
  });

  it('says in one line that its port is taken, and leaves nothing running', async () => {
    const other = createServer().listen(http, '127.0.0.1');
    await once(other, 'listening');
    run();
    expect(await ended).toEqual([1, undefined]);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${http}: it is already in use`);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(natsServersOn(dir)).toEqual([]);
    other.close();
  });

  it('opens no address to others without tokens', async () => {
    run('--listen', `0.0.0.0:${http}`);
    expect(await ended).toEqual([1, undefined]);
    expect(stderr).toContain('configure http.tokens');
    expect(natsServersOn(dir)).toEqual([]);
  });

  it('refuses an option that it does not have', async () => {
    run('--odd');
    expect(await ended).toEqual([2, undefined]);
    expect(stderr).toBe("muster: Unknown option '--odd' (see --help)\n");
    expect(existsSync(dir)).toBe(false);
    expect(parseOptions(['--help'])).toBeUndefined();
  });

  it('says that the port of NATS is taken', async () => {
    const other = createServer().listen(nats, '127.0.0.1');
    await once(other, 'listening');
    const embedded = new EmbeddedNats('/nowhere.conf', { host: '127.0.0.1', port: nats }, () => undefined);
    await expect(embedded.start()).rejects.toThrow('the port is in use; choose another with --nats-listen');
    other.close();
    await once(other, 'close');
    await expect(embedded.start()).rejects.toThrow('/nowhere.conf');
    const byIpv6 = new EmbeddedNats('/nowhere.conf', { host: '::1', port: nats }, () => undefined);
    await expect(byIpv6.start()).rejects.toThrow(`nats-server on [::1]:${nats}: `);
  });
});

describe('the embedded nats-server', () => {
  let dir: string;
  let port: number;
  let sut: EmbeddedNats;
  let said: string[];
  let heard: (line: string) => void;

  const make = (program?: string): void => {
    const log = (line: string): void => {
      said.push(line);
      heard(line);
    };
    sut = new EmbeddedNats(join(dir, 'nats.conf'), { host: '127.0.0.1', port }, log, program);
  };
  /** A nats-server of our own in front of the real one: what it does at its n-th start. */
  const first = (script: string): void => {
    const counted = `n=$(($(cat ${dir}/starts 2>/dev/null || echo 0) + 1)); echo $n > ${dir}/starts`;
    const text = `#!/bin/sh\n${counted}\n${script}\nexec nats-server "$@"\n`;
    writeFileSync(join(dir, 'server'), text, { mode: 0o755 });
    make(join(dir, 'server'));
  };
  const starts = (): number => Number(readFileSync(join(dir, 'starts'), 'utf8'));
  const connects = async (user: string): Promise<boolean> => {
    const credentials = readCredentials(credentialsFile(dir, user));
    const servers = [`nats://127.0.0.1:${port}`];
    try {
      await (await connectBus({ name: user, servers, credentials, connectTimeoutMs: 2_000 })).close();
      return true;
    } catch {
      return false;
    }
  };

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'muster-embedded-'));
    port = await freePort();
    await initCluster(dir, {
      cluster: 'c',
      agents: [],
      natsListen: [`127.0.0.1:${port}`],
      storeDir: join(dir, 'nats'),
    });
    said = [];
    heard = () => undefined;
    make();
  });
  afterEach(async () => {
    await sut.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is started again also where it ends at once after a restart, and each end is told', async () => {
    first('if [ $n = 2 ] || [ $n = 3 ]; then exit 7; fi');
    await sut.start();
    const thirdEnd = new Promise<void>((resolve) => (heard = () => said.length === 3 && resolve()));
    process.kill(natsServersOn(dir)[0]!, 'SIGKILL');
    await thirdEnd;
    expect(said).toEqual([
      'nats-server ended (SIGKILL); it is started again',
      'nats-server ended (exit 7); it is started again',
      'nats-server ended (exit 7); it is started again',
    ]);
    while (!(await connects('inventory')));
    expect(starts()).toBe(4);
  });

  it('that a signal ends before it has answered is a failed start at once', async () => {
    first('kill -9 $$');
    await expect(sut.start()).rejects.toThrow('it ended (SIGKILL)');
    expect(starts()).toBe(1);
  });
});

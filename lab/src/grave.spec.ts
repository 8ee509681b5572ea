import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { freePort } from '#bus/testing/free-port.js';
import { PROJECT } from './folder.js';

const addresses = { management: '127.211.1.11', backend: '127.211.2.11' };
/** What does not answer within so long is silent: this machine's own kernel refuses at once. */
const SILENT_MS = 1_000;

let dir: string;
let port: number;
let grave: Daemon;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'muster-grave-'));
  port = await freePort();
  const host = join(dir, 'host.json');
  writeFileSync(host, JSON.stringify({ addresses, agentPort: await freePort(), sshPort: port }));
  const dug = daemon('/usr/bin/python3', ['-I', '-S', join(PROJECT, 'lab/host/grave.py'), host]);
  grave = dug;
  await once(dug.stdout, 'data');
});
afterEach(async () => {
  grave.kill('SIGKILL');
  await grave;
  rmSync(dir, { recursive: true });
});

const knock = (host: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: SILENT_MS });
    const end = (sign: string): void => {
      socket.destroy();
      resolve(sign);
    };
    socket.once('connect', () => end('accepted'));
    socket.once('error', (e: NodeJS.ErrnoException) => end(e.code ?? e.message));
    socket.once('timeout', () => end('silent'));
  });

describe('a dead host of the loopback mode', () => {
  it('is silent at the port of its sshd on every network', async () => {
    expect(await knock(addresses.management)).toBe('silent');
    expect(await knock(addresses.backend)).toBe('silent');
  });
});

import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { issueServerCertificate, newAuthority } from '#bus/init/certificates.js';
import { ConnectionLimit } from './connection-limit.js';
import { Listeners } from './listeners.js';

const dir = mkdtempSync(join(tmpdir(), 'muster-listeners-'));
const sockets: Socket[] = [];
let sut: Listeners | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await sut?.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Resolves with whether a request on it is answered, or it is closed. */
async function dial(port: number): Promise<'answered' | 'closed'> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return Promise.race([
    once(socket, 'data').then(() => 'answered' as const),
    once(socket, 'close').then(() => 'closed' as const),
  ]);
}

describe('a certificate', () => {
  it('is shown by an address that was being opened when it came', async () => {
    const authority = await newAuthority('spec', Date.now());
    const issue = (name: string) => issueServerCertificate(authority, [name], Date.now());
    const [before, after] = [await issue('before'), await issue('after')];
    sut = new Listeners((_req, res) => void res.end('ok'), {
      log: { warn: () => undefined },
      now: () => performance.now(),
      tls: before,
    });
    const opening = sut.open({ kind: 'tcp', host: '127.0.0.1', port: 0 });
    sut.show(after);
    const open = await opening;
    const socket = tlsConnect({
      host: '127.0.0.1',
      port: open.kind === 'tcp' ? open.port : 0,
      ca: authority.certificate,
      checkServerIdentity: () => undefined,
    });
    sockets.push(socket);
    await once(socket, 'secureConnect');
    expect(socket.getPeerCertificate().subject.CN).toBe('after');
  });
});

describe('connections', () => {
  it.each([
    ['in all', { most: 5, mostOfOne: 100 }],
    ['from one place', { most: 100, mostOfOne: 5 }],
  ])(
    'that are too many %s are closed at once, with few lines, and those of the unix socket never are',
    async (_, limit) => {
      const lines: object[] = [];
      sut = new Listeners((_req, res) => void res.end('ok'), {
        log: { warn: (facts: object) => void lines.push(facts) },
        now: () => 0,
        limit: new ConnectionLimit(limit),
      });
      const bound = await sut.open({ kind: 'tcp', host: '127.0.0.1', port: 0 });
      const path = join(dir, 'api.sock');
      await sut.open({ kind: 'unix', path });
      const port = bound.kind === 'tcp' ? bound.port : 0;
      for (let n = 0; n < 5; n++) expect(await dial(port)).toBe('answered');
      for (let n = 0; n < 20; n++) expect(await dial(port)).toBe('closed');
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThan(5);
      const [answer] = (await once(request({ socketPath: path, path: '/' }).end(), 'response')) as [
        { statusCode: number },
      ];
      expect(answer.statusCode).toBe(200);
      const [first] = sockets;
      first?.destroy();
      let again = await dial(port);
      while (again === 'closed') again = await dial(port);
      expect(again).toBe('answered');
    },
  );

  it('of a machine that many share are bounded together only', async () => {
    sut = new Listeners((_req, res) => void res.end('ok'), {
      log: { warn: () => undefined },
      now: () => 0,
      limit: new ConnectionLimit({ most: 10, mostOfOne: 2 }, (source) => source === '127.0.0.1'),
    });
    const bound = await sut.open({ kind: 'tcp', host: '127.0.0.1', port: 0 });
    const port = bound.kind === 'tcp' ? bound.port : 0;
    for (let n = 0; n < 10; n++) expect(await dial(port)).toBe('answered');
    expect(await dial(port)).toBe('closed');
  });
});

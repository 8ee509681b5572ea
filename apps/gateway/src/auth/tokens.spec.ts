import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { buildConfig, ServiceContext } from '#service';
import { startGateway } from '../gateway.js';
import { parseListen } from '../http/listen-address.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { status } from '../testing/records.js';
import { TokenFile } from './token-file.js';

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

describe('tokens', () => {
  it('let a role do its own and what the lower ones may, and nobody else anything', async () => {
    const sut = await GatewayUnderTest.start({
      tokens: [
        { name: 'eve', role: 'viewer', sha256: sha256('v-token') },
        { name: 'olga', role: 'operator', sha256: sha256('o-token') },
        { name: 'ada', role: 'admin', sha256: sha256('a-token') },
      ],
    });
    try {
      sut.answer('inventory.status', () => status());
      sut.answer('inventory.operations.submit', () => ({ job: 'j1' }));
      sut.answer('inventory.fencing.put', ({ mode }) => ({ ...status().fencing, mode }));
      const check = { kind: 'check', nodes: ['a-1'] };
      const fencing = { mode: 'enforce' };
      const codes = async (token: string): Promise<number[]> => [
        (await sut.get('/v1/status', bearer(token))).status,
        (await sut.send('POST', '/v1/operations', check, bearer(token))).status,
        (await sut.send('PUT', '/v1/fencing', fencing, bearer(token))).status,
        (await sut.send('POST', '/commission/nodes', { nodes: ['a-1'] }, bearer(token))).status,
      ];
      expect(await codes('v-token')).toEqual([200, 403, 403, 403]);
      expect(await codes('o-token')).toEqual([200, 202, 403, 200]);
      expect(await codes('a-token')).toEqual([200, 202, 200, 200]);
      expect(await codes('guess')).toEqual([401, 401, 401, 401]);
      expect((await sut.get('/v1/status')).status).toBe(401);
      expect((await sut.get('/healthz')).status).toBe(200);
      expect(sut.last('inventory.fencing.put')).toMatchObject({ by: 'ada' });
    } finally {
      await sut.stop();
    }
  });

  it('that are wrong are refused for a while after some, with few lines, and who is at work goes on', async () => {
    const lines: string[] = [];
    const write = (line: Buffer, _: string, done: () => void): void => {
      lines.push(line.toString());
      done();
    };
    const sut = await GatewayUnderTest.start({
      log: pino({ level: 'warn' }, new Writable({ write })),
      tokens: [
        { name: 'eve', role: 'viewer', sha256: sha256('v-token') },
        { name: 'ada', role: 'admin', sha256: sha256('a-token') },
      ],
    });
    try {
      sut.answer('inventory.status', () => status());
      const ask = async (token: string): Promise<Response> => sut.get('/v1/status', bearer(token));
      expect((await ask('a-token')).status).toBe(200);
      const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => ask(`guess-${n}`)));
      const statuses = answers.map((a) => a.status);
      expect(statuses.filter((code) => code === 401).length).toBeLessThanOrEqual(25);
      expect(new Set(statuses)).toEqual(new Set([401, 429]));
      const refused = await ask('guess');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_TRIES' });
      expect((await sut.get('/info/nodes', bearer('guess'))).status).toBe(429);
      // One that nobody has shown from here yet is no better than a guess.
      expect((await ask('v-token')).status).toBe(429);
      expect((await ask('a-token')).status).toBe(200);
      const told = lines.filter((line) => line.includes('wrong API token'));
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThan(6);
      expect(told.join('')).toContain('127.0.0.1');
      expect(told.join('')).not.toContain('guess-');
    } finally {
      await sut.stop();
    }
  });

  it.each([
    ['no list', '{}', 'list'],
    ['a role that does not exist', JSON.stringify([{ name: 'a', role: 'root', sha256: sha256('x') }]), 'role'],
    ['a token in clear', JSON.stringify([{ name: 'a', role: 'admin', sha256: 'secret' }]), 'hex'],
  ])('are refused with %s', (_, text, word) => {
    expect(() => new TokenFile(text)).toThrow(word);
  });
});

describe('where the gateway listens', () => {
  it('is loopback or a unix socket while there are no tokens', () => {
    expect(parseListen('127.0.0.1:9007, unix:/run/m.sock,[::1]:1,localhost:2,127.9.9.9:3', false)).toHaveLength(5);
    for (const open of ['0.0.0.0:9007', '10.0.0.1:9007', '[::]:9007', 'host.example:1', '127.0.0.1.example:1']) {
      expect(() => parseListen(open, false)).toThrow('http.tokens');
      expect(parseListen(open, true)).toHaveLength(1);
    }
    for (const odd of ['9007', '127.0.0.1:99999', 'unix:relative', '', `unix:/${'x'.repeat(120)}`])
      expect(() => parseListen(odd, true)).toThrow('http.listen');
  });

  it('is refused in one sentence when somebody else has the port, with nothing left open', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const sut = await GatewayUnderTest.start();
    try {
      const socket = `${sut.socket}2`;
      const http = { listen: `unix:${socket},127.0.0.1:${port}` };
      const config = buildConfig({ instance: 'gateway-2', dataDir: '/tmp', http }, undefined, 'spec');
      const context = new ServiceContext(config, sut.bus, pino({ level: 'silent' }), 'gateway');
      await expect(startGateway(context)).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: it is already in use`);
      await expect(startGateway(context)).rejects.toThrow('already in use');
    } finally {
      other.close();
      await sut.stop();
    }
  });
});

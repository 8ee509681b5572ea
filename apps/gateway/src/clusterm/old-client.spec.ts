import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { defaultSettings } from '#contracts';
import { readGateways } from '../auth/gateways.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { status } from '../testing/records.js';

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const tokens = [
  { name: 'eve', role: 'viewer', sha256: sha256('v-token') },
  { name: 'olga', role: 'operator', sha256: sha256('o-token') },
  { name: 'ada', role: 'admin', sha256: sha256('a-token') },
];
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const lines: string[] = [];
const log = pino(
  { level: 'debug' },
  new Writable({
    write: (line: Buffer, _encoding, done) => {
      lines.push(line.toString());
      done();
    },
  }),
);

const answering = (sut: GatewayUnderTest): void => {
  sut.answer('inventory.status', () => status());
  sut.answer('inventory.settings.get', () => ({ ...defaultSettings('spec'), revision: 1 }));
  sut.answer('inventory.nodes.list', () => ({ items: [] }));
  sut.answer('inventory.operations.submit', () => ({ job: 'j1' }));
  sut.answer('inventory.globals.put', ({ extraVars = {} }) => ({ extraVars }));
  sut.answer('inventory.config.get', () => ({ config: {} }) as never);
  sut.answer('inventory.config.put', () => ({}) as never);
};

describe('an old client with HTTP Basic', () => {
  let sut: GatewayUnderTest;
  beforeAll(async () => {
    sut = await GatewayUnderTest.start({ tokens, log });
    answering(sut);
  });
  afterAll(() => sut.stop());

  const curl = async (...args: string[]): Promise<{ status: number; body: string }> => {
    await sut.subscribed;
    const { stdout } = await execa('curl', ['-sS', '-w', '\\n%{http_code}', ...args], { stripFinalNewline: false });
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
  };
  const post = ['-H', 'content-type: application/json', '-d', '{"nodes":["host1-SN1"]}'];

  it('is let in by curl -u, as whom the token is, whatever name it gives itself', async () => {
    expect(await curl('-u', 'ada:v-token', `${sut.url}/info/nodes`)).toEqual({ status: 200, body: '{}' });
    expect((await curl('-u', 'ada:v-token', ...post, `${sut.url}/commission/nodes`)).status).toBe(403);
    expect(await curl('-u', 'ada:o-token', ...post, `${sut.url}/commission/nodes`)).toEqual({ status: 200, body: '' });
    expect(sut.last('inventory.operations.submit')).toMatchObject({ by: 'olga', from: '127.0.0.1' });
    expect((await curl('-u', ':a-token', ...post, `${sut.url}/config`)).status).toBe(200);
  });

  it('is let in as the old clusterctl sends its requests, byte for byte', async () => {
    await sut.subscribed;
    const { host } = new URL(sut.url);
    const exchange = async (...head: string[]): Promise<string> => {
      const socket = connect(Number(host.split(':')[1]), '127.0.0.1');
      socket.write(head.join('\r\n'));
      return text(socket);
    };
    const go = [
      `Host: ${host}`,
      'User-Agent: Go-http-client/1.1',
      'Authorization: Basic bmFtZTpvLXRva2Vu',
      'Accept-Encoding: gzip',
      'Connection: close',
    ];
    expect(await exchange('GET /info/nodes HTTP/1.1', ...go, '', '')).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{\}$/);
    const body =
      '{"nodes":["host1-SN1"],"addrs":null,"host_group":"service-master","extra_vars":"","job":"","monitor_event":{"name":"","nodes":null},"config":null}';
    const length = [`Content-Length: ${body.length}`, 'Content-Type: application/json'];
    expect(await exchange('POST /commission/nodes HTTP/1.1', ...go, ...length, '', body)).toMatch(
      /^HTTP\/1\.1 200 OK\r\n/,
    );
  });

  it('is refused in one line of text that says what is taken, with both challenges', async () => {
    for (const authorization of [undefined, '', 'Basic', 'Basic name:o-token', basic('o-token', ''), 'Digest x']) {
      const answer = await sut.get('/info/nodes', authorization === undefined ? {} : { authorization });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/plain; charset=utf-8']);
      expect(await answer.text()).toBe(
        'a token is needed: Authorization: Bearer …, or as the password of HTTP Basic (clusterctl -u any:TOKEN@host:port)\n',
      );
      expect(answer.headers.get('www-authenticate')).toBe(
        'Bearer realm="muster", Basic realm="muster", charset="UTF-8"',
      );
    }
  });

  it('is let in nowhere else', async () => {
    const authorization = basic('ada', 'a-token');
    for (const path of ['/v1/status', '/metrics', '/v1/tokens']) {
      const answer = await sut.get(path, { authorization });
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Bearer realm="muster"',
      ]);
      expect(await answer.text()).not.toContain('Basic');
    }
  });

  it('that guesses is held up like any other, and what it shows stands in no log', async () => {
    const guess = (n: number): Promise<Response> =>
      sut.get('/info/nodes', { authorization: basic(`guess-name-${n}`, `guess-${n}`) });
    const codes = (await Promise.all(Array.from({ length: 60 }, (_, n) => guess(n)))).map((a) => a.status);
    expect(new Set(codes)).toEqual(new Set([401, 429]));
    expect((await sut.get('/v1/status', { authorization: 'Bearer guess' })).status).toBe(429);
    // It was right from here before, as the password of somebody.
    expect((await sut.get('/v1/status', { authorization: 'Bearer o-token' })).status).toBe(200);
    expect(lines.join('')).toContain('a wrong API token');
    expect(lines.join('')).not.toMatch(/guess-|[voa]-token/);
  });
});

describe('an old client in a network of compat.allowFrom', () => {
  let sut: GatewayUnderTest;
  beforeAll(async () => {
    sut = await GatewayUnderTest.start({
      tokens,
      log,
      allowFrom: ['127.0.9.0/24', '198.51.100.0/24'],
      trustProxy: ['127.0.8.1'],
    });
    answering(sut);
  });
  afterAll(() => sut.stop());

  /** From an address of this machine's own. */
  const ask = async (
    from: string,
    method: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string }> => {
    await sut.subscribed;
    const body = method === 'GET' ? '' : '{"nodes":["host1-SN1"],"extra_vars":{},"config":{}}';
    return new Promise((resolve, reject) => {
      const sent = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
      httpRequest(sut.url + path, { method, localAddress: from, agent: false, headers: sent }, (res) => {
        text(res).then((all) => resolve({ status: res.statusCode ?? 0, body: all }), reject);
      })
        .on('error', reject)
        .end(body);
    });
  };
  const statusOf = async (...args: Parameters<typeof ask>): Promise<number> => (await ask(...args)).status;

  it('needs no token for what an operator may, and the audit says from where', async () => {
    expect(await statusOf('127.0.9.7', 'GET', '/info/nodes')).toBe(200);
    expect(await statusOf('127.0.9.7', 'POST', '/commission/nodes')).toBe(200);
    expect(sut.last('inventory.operations.submit')).toMatchObject({ by: 'compat:allowFrom', from: '127.0.9.7' });
  });

  it('needs one for what an admin may', async () => {
    expect(await statusOf('127.0.9.7', 'POST', '/config')).toBe(401);
    expect(sut.last('inventory.config.put')).toBeUndefined();
    expect(await statusOf('127.0.9.7', 'POST', '/config', { authorization: basic('x', 'a-token') })).toBe(200);
  });

  it('needs one beyond the old surface', async () => {
    for (const [method, path] of [
      ['GET', '/v1/status'],
      ['GET', '/metrics'],
      ['POST', '/v1/operations'],
      ['GET', '/%761/status'],
    ] as const)
      expect([path, await statusOf('127.0.9.7', method, path)]).toEqual([path, 401]);
  });

  it('needs one elsewhere, whatever X-Forwarded-For says', async () => {
    expect(await statusOf('127.0.0.1', 'GET', '/info/nodes')).toBe(401);
    for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded'])
      expect(await statusOf('127.0.0.1', 'GET', '/info/nodes', { [name]: '198.51.100.7' })).toBe(401);
    // A proxy in an open network that nobody has named.
    const behind = await ask('127.0.9.7', 'GET', '/info/nodes', { 'x-forwarded-for': '203.0.113.1' });
    expect(behind).toMatchObject({ status: 401, body: expect.stringContaining('http.trustProxy does not name') });
  });

  it('is where a proxy that is trusted says', async () => {
    const via = (forwarded: string): Promise<number> =>
      statusOf('127.0.8.1', 'GET', '/info/nodes', { 'x-forwarded-for': forwarded });
    expect(await via('198.51.100.7')).toBe(200);
    expect(await via('203.0.113.1')).toBe(401);
    // What that was told itself is behind what it says.
    expect(await via('198.51.100.7, 203.0.113.1')).toBe(401);
    expect(await statusOf('127.0.8.1', 'GET', '/info/nodes')).toBe(401);
  });

  it('is judged by what it shows, where it shows something', async () => {
    for (const authorization of ['Bearer guess', 'Basic x', '', basic('name', '')])
      expect(await statusOf('127.0.9.7', 'GET', '/info/nodes', { authorization })).toBe(401);
    expect(await statusOf('127.0.9.7', 'POST', '/globals', { authorization: 'Bearer v-token' })).toBe(403);
  });

  it('is no page of a stranger, also where his name points here', async () => {
    const why = { status: 401, body: expect.stringContaining('it may be of a page in a browser') };
    expect(await ask('127.0.9.7', 'GET', '/info/nodes', { host: 'evil.example' })).toMatchObject(why);
    const origin = { host: 'evil.example', origin: 'http://evil.example' };
    expect(await ask('127.0.9.7', 'POST', '/globals', origin)).toMatchObject(why);
    expect(await statusOf('127.0.9.7', 'GET', '/info/nodes', { host: 'control1:9007' })).toBe(200);
  });

  it('is told of in the status, and once in the log with the routers that are never let in', async () => {
    const { compat } = (await (await sut.get('/v1/status', { authorization: 'Bearer v-token' })).json()) as {
      compat?: unknown;
    };
    expect(compat).toEqual({ allowFrom: ['127.0.9.0/24', '198.51.100.0/24'] });
    const told = lines.filter((line) => line.includes('open without a token'));
    expect(told.map((line) => JSON.parse(line) as object)).toMatchObject([
      { allowFrom: ['127.0.9.0/24', '198.51.100.0/24'], never: [...new Set(readGateways())].sort() },
    ]);
  });
});

describe('compat.allowFrom', () => {
  it('is refused where nobody is asked for a token', async () => {
    const starting = GatewayUnderTest.start({ allowFrom: ['10.0.0.0/8'] });
    await expect(starting).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('compat.allowFrom: nobody is asked for a token without http.tokens'),
    });
  });
});

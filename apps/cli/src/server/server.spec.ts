import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueServerCertificate, newAuthority, type Certificate } from '#bus/init/certificates.js';
import { MusterUnderTest } from '../testing/muster.js';
import { parseAddresses } from './address.js';
import { Server as MusterServer } from './server.js';

const now = Date.now();
const refused = 'no Muster at 127.0.0.1:1: nothing listens there; is it running? (--url, MUSTER_URL)';
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

describe('--ca', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-cli-ca-'));
  const ca = join(dir, 'ca.pem');
  const sut = new MusterUnderTest();
  let authority: Certificate;
  const servers: Server[] = [];
  /** The same answer to everything, behind this certificate. */
  const behind = async (names: string[], at = now): Promise<string> => {
    const { certificate, key } = await issueServerCertificate(authority, names, at);
    const server = createServer({ cert: certificate, key }, (_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return `https://127.0.0.1:${portOf(server)}`;
  };
  beforeAll(async () => {
    await sut.start();
    authority = await newAuthority('spec', now);
    writeFileSync(ca, authority.certificate);
  });
  afterAll(async () => {
    await sut.stop();
    for (const server of servers) await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true });
  });
  const list = (url: string, args: string[] = [], env: Record<string, string> = {}) =>
    sut.call(['claim', 'list', '-u', url, ...args], { env });

  it('trusts an https:// address by a file, of the option or of the environment; without it, it is refused', async () => {
    const url = await behind(['127.0.0.1']);
    expect(await list(url, ['--ca', ca])).toMatchObject({ code: 0, stderr: '' });
    expect(await list(url, [], { MUSTER_CA: ca })).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await list(url);
    expect([code, stderr]).toEqual([
      1,
      `muster: no Muster at ${url}: its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE): name its authority's by --ca FILE or MUSTER_CA\n`,
    ]);
  });

  it('trusts no certificate of another name, and none that has ended', async () => {
    const other = await list(await behind(['10.0.0.1', 'muster.example']), ['--ca', ca]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('does not name this address') });
    const ended = await list(await behind(['127.0.0.1'], now - 900 * 86_400_000), ['--ca', ca]);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('has expired') });
  });

  it('is refused where it can do nothing, or holds none', async () => {
    const key = join(dir, 'key.pem');
    writeFileSync(key, authority.key);
    for (const [url, file, why] of [
      ['127.0.0.1:1', ca, 'no address is https://'],
      ['https://127.0.0.1:1', key, 'a certificate (PEM) is expected'],
      ['https://127.0.0.1:1', join(dir, 'none'), 'ENOENT'],
    ] as const)
      expect(await list(url, ['--ca', file])).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    // Of the environment it may stand there for other addresses.
    expect((await list('127.0.0.1:1', [], { MUSTER_CA: ca })).stderr).toBe(`muster: ${refused}\n`);
  });
});

describe('several addresses', () => {
  const sut = new MusterUnderTest();
  const sockets: Socket[] = [];
  let silent: TcpServer;
  beforeAll(async () => {
    await sut.start();
    silent = createTcpServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
    await sut.stop();
  });
  beforeEach(() => {
    sut.received.length = 0;
    sut.on('GET /readyz', { status: 'ok' });
    sut.on('GET /v1/claims', { items: [] });
  });
  /** Whether it is ready may be asked of anybody, at any time. */
  const asked = (of: MusterUnderTest = sut): string[] =>
    of.received.map(({ method, url }) => `${method} ${url.split('?')[0]}`).filter((what) => what !== 'GET /readyz');

  it('are asked in turn until one answers', async () => {
    const { code, stderr } = await sut.call(['claim', 'list', '-u', `127.0.0.1:1, ${sut.url}`]);
    expect([code, stderr, asked()]).toEqual([0, '', ['GET /v1/claims']]);
  });

  it('are each asked by requests beside each other, too', async () => {
    const addresses = parseAddresses(`127.0.0.1:1,unix:/none/such,${sut.url}`);
    const server = new MusterServer(addresses, undefined);
    const answers = await Promise.all(['a', 'b', 'c'].map(() => server.get('/v1/claims')));
    expect(answers).toEqual([{ items: [] }, { items: [] }, { items: [] }]);
  });

  it('are none without TLS beside one with it, unless this machine itself is asked', async () => {
    const { code, stderr } = await sut.call(['claim', 'list', '-u', 'https://127.0.0.1:1,10.0.0.2:9007']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--url 10.0.0.2:9007: write https:// here, too')]);
    for (const other of ['http://127.0.0.1:9007', '[::1]:9007', 'localhost:9007', 'unix:/run/muster.sock'])
      expect(parseAddresses(`https://10.0.0.1:9007,${other}`)).toHaveLength(2);
  });

  it('of other machines get no token without TLS, unless that is allowed by name', async () => {
    const list = (url: string, env: Record<string, string>, args: string[] = []) =>
      sut.call(['claim', 'list', '-u', url, ...args], { env: { MUSTER_TOKEN: 't0ken', ...env } });
    // The one that answers is this machine: an answer means that the other one would be asked.
    const both = `${sut.url},10.0.0.2:9007`;
    for (const url of ['10.0.0.2:9007', 'http://control1', `[2001:db8::1]:9007`, both]) {
      const { code, stdout, stderr } = await list(url, {});
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringMatching(/^muster: INSECURE_HTTP: .*--insecure-http/),
      ]);
      expect(stderr).not.toContain('t0ken');
    }
    expect((await list(both, { MUSTER_INSECURE_HTTP: 'yes' })).stderr).toContain('true or false is expected');
    expect(await list(both, { MUSTER_INSECURE_HTTP: 'false' })).toMatchObject({ code: 2 });
    expect(sut.received).toEqual([]);
    expect(await list(both, {}, ['--insecure-http'])).toMatchObject({ code: 0, stderr: '' });
    expect(await list(both, { MUSTER_INSECURE_HTTP: 'true' })).toMatchObject({ code: 0, stderr: '' });
    // To this machine itself, and without a token, as ever.
    expect(await list(sut.url, {})).toMatchObject({ code: 0, stderr: '' });
    expect(await list(both, { MUSTER_TOKEN: '' })).toMatchObject({ code: 0, stderr: '' });
    expect(asked()).toHaveLength(4);
    const old = await sut.call(['nodes', 'get', '-u', both], { program: 'clusterctl', env: { MUSTER_TOKEN: 't0ken' } });
    expect(old).toMatchObject({ code: 2, stderr: expect.stringContaining('INSECURE_HTTP') });
  });

  it('are each named where none answers', async () => {
    const { code, stderr } = await sut.call(['claim', 'list', '-u', '127.0.0.1:1,unix:/none/such']);
    expect([code, stderr]).toEqual([1, `muster: ${refused}; ${refused.replace('127.0.0.1:1', 'unix:/none/such')}\n`]);
  });

  it('are not waited for: one that takes no TLS handshake is given up', async () => {
    const { code, stderr } = await sut.call(['claim', 'list', '-u', `https://127.0.0.1:${portOf(silent)},${sut.url}`]);
    expect([code, stderr]).toEqual([0, '']);
  });

  describe('of which one is of no use', () => {
    const other = new MusterUnderTest();
    const away = { code: 'BUS_UNAVAILABLE', detail: 'no connection to NATS; it is being made anew' };
    beforeAll(() => other.start());
    afterAll(() => other.stop());
    beforeEach(() => {
      other.received.length = 0;
      other.on('GET /readyz', away, 503);
      other.on('GET /v1/claims', away, 503);
      sut.on('POST /v1/operations', { job: 'j1' }, 202);
    });
    const list = (...urls: string[]) => sut.call(['claim', 'list', '-u', urls.join()]);
    const commission = ['nodes', 'commission', 'a-1'];

    it('are not waited for: one that stands still takes connections, and answers nothing', async () => {
      const began = performance.now();
      const { code, stderr } = await list(`127.0.0.1:${portOf(silent)}`, sut.url);
      expect([code, stderr, asked()]).toEqual([0, '', ['GET /v1/claims']]);
      expect(performance.now() - began).toBeLessThan(3_000);
    });

    it('leave one out that says that it is not ready, for what reads and for what writes', async () => {
      expect(await list(other.url, sut.url)).toMatchObject({ code: 0, stderr: '' });
      const { code } = await sut.call([...commission, '-u', `${other.url},${sut.url}`]);
      expect([code, asked(), asked(other)]).toEqual([0, ['GET /v1/claims', 'POST /v1/operations'], []]);
    });

    it('say why where none is ready: one that answers, asked once', async () => {
      const { code, stderr } = await list(`127.0.0.1:${portOf(silent)}`, '127.0.0.1:1', other.url);
      expect([code, stderr, asked(other)]).toEqual([1, `muster: ${away.detail}\n`, ['GET /v1/claims']]);
    });

    /** `other` is ready until it is asked this, and does so instead of answering; from then on `sut` is. */
    function goneWith(route: string, end: (res: ServerResponse) => void): MusterServer {
      let isGone = false;
      const ready = (res: ServerResponse, is: boolean): unknown => res.writeHead(is ? 200 : 503).end();
      other.on('GET /readyz', (_: unknown, res: ServerResponse) => ready(res, !isGone));
      sut.on('GET /readyz', (_: unknown, res: ServerResponse) => ready(res, isGone));
      other.on(route, (_: unknown, res: ServerResponse) => {
        isGone = true;
        end(res);
      });
      return new MusterServer(parseAddresses(`${other.url},${sut.url}`), undefined);
    }

    it.each<[string, (res: ServerResponse) => void]>([
      ['breaks off before its answer', (res) => res.destroy()],
      [
        'breaks off in its answer',
        (res) => res.writeHead(200, { 'content-length': 99 }).write('{', () => res.destroy()),
      ],
      ['is not ready any more', (res) => res.writeHead(503).end()],
    ])('are asked what reads, and what is carried out once by its key, where one %s', async (_, end) => {
      expect(await goneWith('GET /v1/claims', end).get('/v1/claims')).toEqual({ items: [] });
      sut.on('POST /v1/none', { id: 'x' }, 202);
      expect(await goneWith('POST /v1/none', end).post('/v1/none')).toEqual({ id: 'x' });
      const keys = [other, sut].map((of) => of.last('POST')?.headers['idempotency-key']);
      expect(keys).toEqual([expect.stringMatching(/./), keys[0]]);
    });

    it('are not asked for another change that one may have made: it is not done twice', async () => {
      const server = goneWith('PUT /v1/none', (res) => res.destroy());
      await expect(server.exchange('PUT', '/v1/none', {})).rejects.toThrow('broke');
      goneWith('POST /commission/node/a-1', (res) => res.destroy());
      const url = `${other.url},${sut.url}`;
      const { code, stderr } = await sut.call(['node', 'commission', 'a-1', '-u', url], { program: 'clusterctl' });
      expect([code, stderr]).toEqual([1, expect.stringContaining('broke')]);
      expect([asked(other), asked()]).toEqual([['PUT /v1/none', 'POST /commission/node/a-1'], []]);
    });

    it('are gone through by who waits for a job', async () => {
      const job = (status: string): string =>
        JSON.stringify({ id: 'j1', kind: 'commission', status, task: '', error: '', nodes: ['a-1'], results: {}, settled: status === 'Complete' }); // prettier-ignore
      let looks = 0;
      goneWith('GET /v1/none', () => undefined);
      other.on('POST /v1/operations', { job: 'j1' }, 202);
      other.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => {
        looks += 1;
        if (looks === 1) return res.end(job('Running'));
        other.on('GET /readyz', away, 503);
        sut.on('GET /readyz', { status: 'ok' });
        return res.writeHead(503).end();
      });
      sut.on('GET /v1/jobs/j1', (_: unknown, res: ServerResponse) => res.end(job('Complete')));
      const { code } = await sut.call([...commission, '--wait', '-u', `${other.url},${sut.url}`]);
      expect([code, looks, asked().at(-1)]).toEqual([0, 2, 'GET /v1/jobs/j1']);
    });
  });
});

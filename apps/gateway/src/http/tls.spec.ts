import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { systemClock } from '#bus';
import { issueServerCertificate, newAuthority, type Certificate } from '#bus/init/certificates.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { CertificateFileNumbers } from './certificate-files.js';

interface Line {
  level: number;
  msg: string;
  code?: string;
  reason?: string;
  names?: string[];
}

const DAY_MS = 86_400_000;
const now = Date.now();
let ca: Certificate;
const issued = (name: string, at = now): Promise<Certificate> => issueServerCertificate(ca, [name, '127.0.0.1'], at);
beforeAll(async () => {
  ca = await newAuthority('spec', now);
});

describe('a gateway with http.tls', () => {
  let dir: string;
  let files: { certificate: string; key: string };
  let sut: GatewayUnderTest;
  let lines: Line[];
  let onLine: () => void = () => undefined;
  const start = async (): Promise<void> => {
    lines = [];
    const write = (text: string): void => {
      lines.push(JSON.parse(text) as Line);
      onLine();
    };
    sut = await GatewayUnderTest.start({ tls: files, log: pino({ level: 'debug' }, { write }) });
  };
  /** The first line of those words, from now on or before. */
  const said = async (words: string): Promise<Line> => {
    for (;;) {
      const found = lines.find((line) => line.msg.includes(words));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => (onLine = resolve));
    }
  };
  const readings = (): number => lines.filter((line) => line.msg.includes('the files are read')).length;

  const put = (pair: Partial<Certificate>): void => {
    if (pair.key !== undefined) writeFileSync(files.key, pair.key);
    if (pair.certificate !== undefined) writeFileSync(files.certificate, pair.certificate);
  };
  const port = (): number => Number(new URL(sut.url).port);
  /** The name in what a new connection is shown, whoever has signed it. */
  const shown = async (): Promise<string> => {
    const socket = connect({ port: port(), host: '127.0.0.1', ca: ca.certificate });
    await once(socket, 'secureConnect');
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return [subject.CN].flat().join();
  };
  const get = async (path: string, options: object = {}): Promise<number | undefined> => {
    const [answer] = (await once(
      httpsRequest(sut.url + path, { ca: ca.certificate, agent: false, ...options }).end(),
      'response',
    )) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode;
  };

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'muster-http-tls-'));
    files = { certificate: join(dir, 'server.pem'), key: join(dir, 'server.key') };
    put(await issued('one.example'));
  });
  afterEach(async () => {
    await sut?.stop();
    rmSync(dir, { recursive: true });
  });

  it('answers by TLS whoever trusts its authority, and nobody without TLS; the unix socket needs none', async () => {
    await start();
    expect(await get('/healthz')).toBe(200);
    await expect(get('/healthz', { ca: [] })).rejects.toThrow(/unable to|self.signed/);
    const plain = httpRequest(`http://127.0.0.1:${port()}/healthz`).end();
    await expect(once(plain, 'response')).rejects.toThrow(/hang up|ECONNRESET/);
    const [answer] = (await once(httpRequest({ socketPath: sut.socket, path: '/healthz' }).end(), 'response')) as [
      IncomingMessage,
    ];
    answer.resume();
    expect(answer.statusCode).toBe(200);
  });

  it('shows a new certificate without a restart, and reads the files once; an open connection goes on', async () => {
    await start();
    const kept = connect({ port: port(), host: '127.0.0.1', ca: ca.certificate });
    await once(kept, 'secureConnect');
    expect(await shown()).toBe('one.example');
    put(await issued('two.example'));
    expect(await said('another certificate is shown')).toMatchObject({ names: ['two.example', '127.0.0.1'] });
    expect([await shown(), readings()]).toEqual(['two.example', 1]);
    kept.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    const [bytes] = (await once(kept, 'data')) as [Buffer];
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200/);
    kept.destroy();
  });

  it('sees files that are renamed over the old ones', async () => {
    await start();
    const next = await issued('two.example');
    for (const what of ['key', 'certificate'] as const) {
      writeFileSync(join(dir, 'new'), next[what]);
      renameSync(join(dir, 'new'), files[what]);
    }
    await said('another certificate is shown');
    expect([await shown(), readings()]).toEqual(['two.example', 1]);
  });

  it('sees a link that is pointed elsewhere, as secrets of containers are changed', async () => {
    for (const [version, name] of ['one.example', 'two.example'].entries()) {
      const pair = await issued(name);
      for (const what of ['key', 'certificate'] as const) writeFileSync(join(dir, `${what}.${version}`), pair[what]);
    }
    const point = (version: number): void => {
      for (const what of ['key', 'certificate'] as const) {
        symlinkSync(join(dir, `${what}.${version}`), join(dir, 'link'));
        renameSync(join(dir, 'link'), files[what]);
      }
    };
    point(0);
    await start();
    point(1);
    await said('another certificate is shown');
    expect(await shown()).toBe('two.example');
  });

  it.each([
    ['is another key’s', async () => ({ certificate: (await issued('two.example')).certificate }), 'do not belong'],
    ['is half written', async () => ({ certificate: (await issued('two.example')).certificate.slice(0, 300) }), 'PEM'],
    ['is empty', async () => ({ certificate: '', key: '' }), 'PEM'],
    ['has ended', () => issued('two.example', now - 900 * DAY_MS), 'ended already'],
  ])(
    'keeps what it has while the certificate on disk %s, and says so in one line with a code',
    async (_, pair, why) => {
      await start();
      put(await pair());
      expect(await said('is not taken')).toMatchObject({
        level: 40,
        code: 'CONFIG_INVALID',
        reason: expect.stringContaining(why),
      });
      expect([await shown(), await get('/healthz')]).toEqual(['one.example', 200]);
      // The rest of what was being written.
      put(await issued('three.example'));
      await said('another certificate is shown');
      expect(await shown()).toBe('three.example');
      expect([lines.filter((line) => line.level >= 40).length, readings()]).toEqual([1, 2]);
    },
  );

  it('tells inventory at its start and whenever that changes whether the pair on disk can be shown', async () => {
    const judged: (string | undefined)[] = [];
    let onJudged: () => void = () => undefined;
    const soon = async (count: number): Promise<void> => {
      while (judged.length < count) await new Promise<void>((resolve) => (onJudged = resolve));
    };
    await start();
    sut.answer('inventory.records.certificate', ({ owner, why }) => {
      judged.push(owner === 'http' ? why : 'another');
      onJudged();
      return {};
    });
    await soon(1);
    put({ key: (await issued('two.example')).key });
    await soon(2);
    put(await issued('three.example'));
    await soon(3);
    expect(judged).toEqual([undefined, expect.stringContaining('do not belong together'), undefined]);
  });

  it('keeps what it has while the files are gone, and takes the next', async () => {
    await start();
    rmSync(files.certificate);
    expect(await said('is not taken')).toMatchObject({ reason: expect.stringContaining('ENOENT') });
    expect(await shown()).toBe('one.example');
    put(await issued('two.example'));
    await said('another certificate is shown');
    expect(await shown()).toBe('two.example');
  });

  it('reads nothing where nothing was changed', async () => {
    await start();
    utimesSync(dir, now / 1000, now / 1000);
    writeFileSync(join(dir, 'beside'), '');
    rmSync(join(dir, 'beside'));
    await systemClock.sleep(CertificateFileNumbers.settle * 3);
    expect(readings()).toBe(0);
  });

  it.each([
    ['is not there', () => rmSync(files.key), /http\.tls: it cannot be read: ENOENT/],
    ['belongs to none', () => writeFileSync(files.key, ''), /http\.tls: the key is not PEM.*server\.key/],
  ])('does not start where its key %s, and leaves nothing open', async (_, spoil, why) => {
    spoil();
    await expect(start()).rejects.toThrow(why);
    sut = undefined as never;
  });

  it('starts with a certificate that has ended, and warns: who must, may still look', async () => {
    put(await issued('old.example', now - 900 * DAY_MS));
    await start();
    expect(await said('has ended')).toMatchObject({ level: 40, code: 'CONFIG_INVALID' });
  });
});

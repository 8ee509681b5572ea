import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initCluster } from '#bus';
import { issueServerCertificate } from '#bus/init/certificates.js';
import { hostFolder, parseControlHosts } from '#bus/init/control-hosts.js';
import { initHosts } from '#bus/init/init-hosts.js';
import { readAuthority } from '#bus/init/tls-files.js';
import { fileFindings } from './files.js';
import type { Finding } from './finding.js';
import { localFacts } from './local-files.js';

const DAY = 86_400_000;
const now = Date.now();

let dir: string;
beforeEach(async () => {
  dir = join(mkdtempSync(join(tmpdir(), 'muster-doctor-')), 'muster');
  await initCluster(dir, {
    cluster: 'spec',
    agents: [],
    natsListen: ['0.0.0.0:4222'],
    hosts: ['10.0.0.1'],
    storeDir: join(dir, 'nats'),
  });
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

const at = (path: string): string => join(dir, path);
const look = (of = dir): Finding[] => fileFindings(localFacts(of, {}), now);
/** `check state`, of a file. */
const lines = (path: string, of = dir): string[] =>
  look(of)
    .filter((f) => f.subject === join(of, path))
    .map((f) => `${f.check} ${f.state}`);
const remedy = (path: string): string | undefined =>
  look().find((f) => f.subject === at(path) && f.remedy !== undefined)?.remedy;
/** A certificate by the CA of the installation, issued `days` ago: it lasts two years. */
const issued = async (days: number) => issueServerCertificate(readAuthority(dir), ['10.0.0.1'], now - days * DAY);

describe('the doctor on the files of an installation whose NATS speaks TLS', () => {
  it('is content as muster init has written them', () => {
    expect(look().filter((f) => f.state !== 'ok' && f.state !== 'skipped')).toEqual([]);
    expect(['keys/ca.key', 'tls-key', 'tls-key/server.key', 'tls/server.pem', 'tls/ca.pem'].map((f) => lines(f))).toEqual([
      ['file.rights ok'],
      ['file.rights ok'],
      ['file.rights ok'],
      ['cert.ends ok'],
      ['cert.ends ok'],
    ]); // prettier-ignore
  });

  it.each([
    ['keys/ca.key', 0o644, 'chmod 600'],
    ['tls-key', 0o755, 'chmod 700'],
    ['tls-key/server.key', 0o640, 'chmod 600'],
    ['tls-key/server.key', 0o602, 'chmod 600'],
  ])('finds that others may read or write %s (mode %o)', (path, mode, command) => {
    chmodSync(at(path), mode);
    expect([lines(path), remedy(path)]).toEqual([['file.rights bad'], `${command} ${at(path)}`]);
  });

  it('finds a key of NATS that is gone, with the command that makes another', () => {
    rmSync(at('tls-key/server.key'));
    expect([lines('tls-key/server.key'), remedy('tls-key/server.key')]).toEqual([
      ['file.rights bad'],
      `muster tls renew --dir ${dir}`,
    ]);
    rmSync(at('tls-key'), { recursive: true });
    expect(lines('tls-key')).toEqual(['file.rights bad']);
  });

  it('does not ask for the key of the CA, which may lie elsewhere', () => {
    rmSync(at('keys/ca.key'));
    expect(lines('keys/ca.key')).toEqual(['file.rights skipped']);
  });

  it('looks at the key where an earlier Muster has put it', () => {
    renameSync(at('tls-key/server.key'), at('tls/server.key'));
    writeFileSync(at('nats.conf'), readFileSync(at('nats.conf'), 'utf8').replaceAll('/tls-key/', '/tls/'));
    chmodSync(at('tls/server.key'), 0o644);
    expect([lines('tls/server.key'), lines('tls-key')]).toEqual([['file.rights bad'], []]);
  });

  it('finds a certificate of NATS that ends within 30 days, or within 3, has ended, is none or is gone', async () => {
    const states: string[] = [];
    for (const days of [690, 705, 728, 731]) {
      writeFileSync(at('tls/server.pem'), (await issued(days)).certificate);
      states.push(...lines('tls/server.pem'));
    }
    writeFileSync(at('tls/server.pem'), (await issued(0)).certificate.slice(0, 200));
    states.push(...lines('tls/server.pem'));
    rmSync(at('tls/server.pem'));
    states.push(...lines('tls/server.pem'));
    expect(states).toEqual(['ok', 'warn', 'bad', 'bad', 'bad', 'bad'].map((state) => `cert.ends ${state}`));
    expect(remedy('tls/server.pem')).toBe(`muster tls renew --dir ${dir}`);
  });

  it('finds a CA that ends: all that it has signed is worthless then', async () => {
    writeFileSync(at('tls/ca.pem'), (await issued(731)).certificate);
    expect(lines('tls/ca.pem')).toEqual(['cert.ends bad']);
    rmSync(at('tls/ca.pem'));
    expect(lines('tls/ca.pem')).toEqual(['cert.ends bad']);
  });

  it('looks at a key of NATS that was made elsewhere, and asks for no CA of ours beside it', () => {
    const elsewhere = join(dir, '..', 'nats.key');
    renameSync(at('tls-key/server.key'), elsewhere);
    rmSync(at('tls/ca.pem'));
    const conf = readFileSync(at('nats.conf'), 'utf8');
    writeFileSync(at('nats.conf'), conf.replace(at('tls-key/server.key'), elsewhere));
    chmodSync(elsewhere, 0o644);
    const found = look().filter((f) => f.state === 'bad');
    expect(found.map((f) => f.subject)).toEqual([elsewhere]);
  });

  it('asks for neither key nor certificate where NATS speaks without TLS', async () => {
    rmSync(dir, { recursive: true });
    await initCluster(dir, {
      cluster: 'spec',
      agents: [],
      natsListen: ['127.0.0.1:4222'],
      storeDir: at('nats'),
    });
    expect(['keys/ca.key', 'tls-key/server.key', 'tls/server.pem'].map((f) => lines(f))).toEqual([[], [], []]);
    expect(look().filter((f) => f.state === 'bad')).toEqual([]);
  });
});

describe('the doctor on the API’s own certificate', () => {
  beforeEach(async () => {
    appendFileSync(at('muster.yaml'), 'http:\n  tls: { certificate: http/server.pem, key: http-key/server.key }\n');
    mkdirSync(at('http'));
    mkdirSync(at('http-key'), { mode: 0o700 });
    const { certificate, key } = await issued(0);
    writeFileSync(at('http/server.pem'), certificate);
    writeFileSync(at('http-key/server.key'), key, { mode: 0o600 });
  });

  it('is content with one that lasts, and a key that only its user reads', () =>
    expect(['http-key', 'http-key/server.key', 'http/server.pem'].map((f) => lines(f))).toEqual([
      ['file.rights ok'],
      ['file.rights ok'],
      ['cert.ends ok'],
    ]));

  it('finds what others may read, and what is gone', () => {
    chmodSync(at('http-key/server.key'), 0o644);
    chmodSync(at('http-key'), 0o755);
    expect([lines('http-key'), lines('http-key/server.key')]).toEqual([['file.rights bad'], ['file.rights bad']]);
    rmSync(at('http-key'), { recursive: true });
    rmSync(at('http/server.pem'));
    expect([lines('http-key/server.key'), lines('http/server.pem')]).toEqual([['file.rights bad'], ['cert.ends bad']]);
    expect(remedy('http-key/server.key')).toMatch(/http\.tls/);
  });

  it('finds that it ends, or has ended', async () => {
    const states: string[] = [];
    for (const days of [705, 731]) {
      writeFileSync(at('http/server.pem'), (await issued(days)).certificate);
      states.push(...lines('http/server.pem'));
    }
    expect(states).toEqual(['cert.ends warn', 'cert.ends bad']);
  });

  it('looks at a key that lies elsewhere, and not at the folder that it lies in', () => {
    const elsewhere = join(dir, '..', 'api.key');
    renameSync(at('http-key/server.key'), elsewhere);
    chmodSync(elsewhere, 0o640);
    const yaml = readFileSync(at('muster.yaml'), 'utf8');
    writeFileSync(at('muster.yaml'), yaml.replace('http-key/server.key', '../api.key'));
    const found = look().filter((f) => f.state === 'bad');
    expect(found.map((f) => f.subject)).toEqual([elsewhere]);
  });
});

describe('the doctor on the files of one of several control hosts', () => {
  it('finds keys there that sign for all of them', async () => {
    const all = join(dir, '..', 'all');
    await initHosts(all, { cluster: 'spec', agents: [], hosts: parseControlHosts('a=10.0.0.1,b=10.0.0.2,c=10.0.0.3'), also: () => ({ 'host.env': '' }) }); // prettier-ignore
    const host = hostFolder(all, 'a');
    expect(look(host).filter((f) => f.state === 'bad' || f.state === 'warn')).toEqual([]);
    expect(lines('tls-key/server.key', host)).toEqual(['file.rights ok']);
    for (const name of ['ca', 'operator']) {
      writeFileSync(join(host, `keys/${name}.key`), readFileSync(join(all, `keys/${name}.key`)), { mode: 0o600 });
      expect(lines(`keys/${name}.key`, host)).toEqual(['file.rights ok', 'file.place warn']);
    }
    // The folder that all are made from has no server of its own.
    expect(look(all).filter((f) => f.state === 'bad')).toEqual([]);
  });
});

import { createHash, X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  credentialsFile,
  hostFolder,
  initCluster,
  initHosts,
  parseControlHosts,
  readCredentials,
  renewServerCertificate,
  type HostsOptions,
  type WrittenHosts,
} from '../index.js';
import { pinOf } from './certificates.js';

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'muster-hosts-')), 'etc');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true }));

const three = parseControlHosts('ctl1=10.0.0.1+10.1.0.1,ctl2=10.0.0.2+10.1.0.2,ctl3=10.0.0.3+10.1.0.3');
const init = (o: Partial<HostsOptions> = {}): Promise<WrittenHosts> =>
  initHosts(dir, { cluster: 'spec', agents: ['n1'], hosts: three, first: { 'tokens.json': '[]\n' }, ...o });
const read = (...path: string[]): string => readFileSync(join(dir, ...path), 'utf8');
const of = (host: string, file: string): string => read('hosts', host, file);
const yaml = (...path: string[]): Record<string, unknown> => parse(read(...path)) as never;
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const files = (at: string): string[] =>
  readdirSync(at, { recursive: true, encoding: 'utf8' })
    .filter((path) => !statSync(join(at, path)).isDirectory())
    .sort();

describe('initHosts', () => {
  it('gives each control host what its services need, and nobody the keys that all rests on', async () => {
    await init();
    const services = ['detector', 'fencer', 'gateway', 'inventory', 'provisioner'];
    for (const { name } of three)
      expect(files(hostFolder(dir, name))).toEqual(
        [
          ...services.map((service) => `creds/${service}.json`),
          ...['agents', 'datagram', 'revoker', 'secrets'].map((key) => `keys/${key}.key`),
          'muster.yaml',
          'nats-accounts.conf',
          'nats.conf',
          'tls/ca.pem',
          'tls-key/server.key',
          'tls/server.pem',
          'tokens.json',
        ].sort(),
      );
    expect(files(dir)).toEqual(expect.arrayContaining(['keys/operator.key', 'keys/ca.key', 'creds/agent=n1.json']));
    for (const file of files(dir)) expect([file, statSync(join(dir, file)).mode & 0o777]).toEqual([file, 0o600]);
  });

  it('tells each server of the others, and all clients of all servers', async () => {
    await init();
    expect(of('ctl2', 'nats.conf')).toContain('routes: ["nats-route://10.0.0.1:6222", "nats-route://10.0.0.3:6222"]');
    for (const line of [
      'server_name: "ctl2"',
      'listen: "10.0.0.2:6222"',
      'no_advertise: true',
      'sync_interval: always',
    ])
      expect(of('ctl2', 'nats.conf')).toContain(line);
    const urls = (network: number): string[] => [1, 2, 3].map((n) => `nats://10.${network}.0.${n}:4222`);
    for (const path of [[], ['hosts', 'ctl2']])
      expect(yaml(...path, 'muster.yaml')).toMatchObject({
        cluster: 'spec',
        replicas: 3,
        nats: { servers: urls(0) },
        agents: { nats: { management: urls(0), backend: urls(1) } },
      });
    const { subjectAltName } = new X509Certificate(of('ctl2', 'tls/server.pem'));
    for (const name of ['ctl2', '10.0.0.2', '10.1.0.2', '127.0.0.1']) expect(subjectAltName).toContain(name);
    expect(subjectAltName).not.toContain('10.0.0.1');
  });

  it('keeps all that is there when it runs again, whatever the number of hosts', async () => {
    await init();
    const yaml1 = read('muster.yaml').replace('replicas: 3', '# mine\nlogLevel: debug\nreplicas: 3');
    writeFileSync(join(dir, 'muster.yaml'), yaml1);
    mkdirSync(join(dir, 'ssh'));
    const binary = Buffer.from([0, 0xff, 0xc3, 0x28]);
    writeFileSync(join(dir, 'ssh', 'id'), binary);
    const kept = ['keys/operator.key', 'keys/ca.key', 'keys/agents.key', 'tokens.json', 'creds/agent=n1.json'];
    const before = kept.map((file) => read(file));
    const pem = of('ctl1', 'tls/server.pem');
    await init({ hosts: three.slice(0, 1), cluster: 'another', first: { 'tokens.json': 'others' } });
    expect(kept.map((file) => read(file))).toEqual(before);
    expect(of('ctl1', 'tls/server.pem')).toBe(pem);
    expect(of('ctl1', 'tokens.json')).toBe('[]\n');
    expect(readFileSync(join(hostFolder(dir, 'ctl1'), 'ssh', 'id'))).toEqual(binary);
    expect(of('ctl1', 'nats.conf')).not.toContain('cluster {');
    expect(yaml('hosts', 'ctl1', 'muster.yaml')).toMatchObject({ cluster: 'spec', logLevel: 'debug', replicas: 1 });
    expect(of('ctl1', 'muster.yaml')).toContain('# mine');
  });

  it('renews the certificate of each host by the CA above it', async () => {
    await init();
    const before = new X509Certificate(of('ctl2', 'tls/server.pem'));
    await renewServerCertificate(hostFolder(dir, 'ctl2'), [], dir);
    const after = new X509Certificate(of('ctl2', 'tls/server.pem'));
    expect(after.subjectAltName).toBe(before.subjectAltName);
    // By it the other servers know the host.
    expect(pinOf(after.toString())).toBe(pinOf(before.toString()));
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.verify(new X509Certificate(read('tls/ca.pem')).publicKey)).toBe(true);
  });

  it('lets each server know the keys of all, its own too, also once certificates were issued anew; no host that went', async () => {
    const pins = (host: string): string[] =>
      JSON.parse(/pinned_certs: (.*)/.exec(of(host, 'nats.conf'))?.[1] ?? '[]') as string[];
    await init();
    const before = three.map(({ name: host }) => pinOf(of(host, 'tls/server.pem')));
    expect(new Set(before).size).toBe(3);
    for (const { name: host } of three) expect(pins(host)).toEqual(before);
    // Another address: the certificate is due.
    const moved = parseControlHosts('ctl1=10.0.0.1+10.1.0.1,ctl2=10.0.0.2+10.1.0.2,ctl3=10.0.0.4+10.1.0.3');
    const pem = of('ctl3', 'tls/server.pem');
    await init({ hosts: moved });
    expect(of('ctl3', 'tls/server.pem')).not.toBe(pem);
    for (const { name: host } of three) expect(pins(host)).toEqual(before);
    await init({ hosts: [...moved.slice(0, 2), ...parseControlHosts('ctl4=10.0.0.5+10.1.0.5')] });
    for (const host of ['ctl1', 'ctl2', 'ctl4']) {
      expect(pins(host)).toHaveLength(3);
      expect(pins(host)).not.toContain(before[2]);
    }
  });

  it('gives the keys of an earlier Muster’s servers folders of their own, and shows no single server’s key to others', async () => {
    await init();
    const before = of('ctl2', 'tls-key/server.key');
    renameSync(join(hostFolder(dir, 'ctl2'), 'tls-key/server.key'), join(hostFolder(dir, 'ctl2'), 'tls/server.key'));
    writeFileSync(join(dir, 'tls', 'server.key'), 'of the single server that this was');
    await init();
    expect(of('ctl2', 'tls-key/server.key')).toBe(before);
    expect(of('ctl2', 'nats.conf').match(/key_file: .*/g)).toEqual(
      Array.from({ length: 2 }, () => 'key_file: "/etc/muster/tls-key/server.key"'),
    );
    for (const { name } of three)
      expect(readdirSync(join(hostFolder(dir, name), 'tls')).sort()).toEqual(['ca.pem', 'server.pem']);
  });

  it('makes several hosts of a single server, with its users and its CA', async () => {
    const single = { cluster: 'spec', agents: ['n1'], natsListen: ['0.0.0.0:4222'], storeDir: join(dir, 'nats') };
    await initCluster(dir, { ...single, config: { http: { listen: '127.0.0.1:9008' } } });
    const seed = readCredentials(credentialsFile(dir, 'inventory')).seed;
    const ca = read('tls/ca.pem');
    await init();
    expect(readCredentials(join(hostFolder(dir, 'ctl3'), 'creds', 'inventory.json'))).toMatchObject({ seed, ca });
    expect(yaml('hosts', 'ctl3', 'muster.yaml')).toMatchObject({ http: { listen: '127.0.0.1:9008' }, replicas: 3 });
  });

  it('refuses, and leaves everything as it was', async () => {
    const wrong = parseControlHosts('a=10.0.0.1').concat(parseControlHosts('b=10.0.0.2'));
    await expect(init({ hosts: wrong })).rejects.toThrow('2 control hosts are no safer than 1');
    await expect(init({ agents: ['a b'] })).rejects.toThrow('"a b" cannot name a node');
    expect(existsSync(dir)).toBe(false);
    mkdirSync(dir);
    writeFileSync(join(dir, 'mine'), 'mine');
    await expect(init()).rejects.toThrow('holds files, and was not made by muster init');
    expect(files(dir)).toEqual(['mine']);
  });

  it('takes everything back where it cannot write all of it', async () => {
    mkdirSync(dir);
    const cannot = { 'x/y': 'text', x: 'a file where a folder is' };
    await expect(init({ also: () => cannot })).rejects.toThrow('is a folder, and a file is to be written there');
    expect(readdirSync(dir)).toEqual([]);
    await init();
    const hosts = (): Record<string, string> =>
      Object.fromEntries(files(join(dir, 'hosts')).map((file) => [file, sha(read('hosts', file))]));
    const before = hosts();
    await expect(init({ hosts: three.slice(0, 1), also: () => cannot })).rejects.toThrow('is a folder');
    expect(hosts()).toEqual(before);
    expect(yaml('muster.yaml')).toMatchObject({ replicas: 3 });
  });

  it('asks for TLS where a single server speaks without', async () => {
    await initCluster(dir, {
      cluster: 'spec',
      agents: [],
      natsListen: ['127.0.0.1:4222'],
      storeDir: join(dir, 'nats'),
    });
    await expect(init()).rejects.toThrow('run "muster tls enable');
    expect(existsSync(join(dir, 'hosts'))).toBe(false);
  });
});

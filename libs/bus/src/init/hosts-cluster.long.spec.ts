import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect as connectNats } from '@nats-io/transport-node';
import {
  connectBus,
  natsOptions,
  natsServers,
  readCredentials,
  readRevokerKey,
  renewServerCertificate,
  type Bus,
  type BusCredentials,
} from '../index.js';
import { anyJson } from '../testing/any-json.js';
import { startHostsCluster, type HostServer, type HostsCluster } from '../testing/hosts-cluster.js';
import { whenClusterServes } from '../testing/nats-cluster.js';
import { issueServerCertificate, pinOf, type Certificate } from './certificates.js';
import { readAuthority, tlsFiles } from './tls-files.js';
import { newerNats } from '../testing/newer-nats.js';

const newer = newerNats();
const name = 'program' in newer ? 'three NATS servers of initHosts' : `three NATS servers (skipped: ${newer.missing})`;

('program' in newer ? describe : describe.skip)(name, () => {
  const program = 'program' in newer ? newer.program : '';
  let cluster: HostsCluster;
  let bus: Bus | undefined;

  beforeAll(async () => {
    cluster = await startHostsCluster(program);
  });
  afterAll(async () => {
    await bus?.close();
    await cluster?.stop();
  });

  const first = (): HostServer => cluster.hosts[0]!;
  const inventory = (): BusCredentials => readCredentials(join(first().dir, 'creds', 'inventory.json'));
  const revoker = () => readRevokerKey(join(first().dir, 'keys', 'revoker.key'));
  const authority = (): string => readFileSync(join(cluster.dir, 'tls', 'ca.pem'), 'utf8');

  it('are one cluster over TLS, and keep three copies', async () => {
    const connected = await connectBus({
      name: 'inventory',
      servers: cluster.urls,
      credentials: inventory(),
      // What is written here are no records of these buckets.
      codec: anyJson,
    });
    bus = connected;
    await whenClusterServes(() => connected.createBuckets({ replicas: 3 }));
    const facts = await whenClusterServes(() => connected.streamFacts());
    expect(facts.map((f) => f.replicas)).toEqual(facts.map(() => 3));
    const seen = await natsServers({ key: revoker(), servers: cluster.urls, ca: authority() });
    expect(seen.map((s) => [s.name, s.cluster, s.sync])).toEqual(cluster.hosts.map((h) => [h.name, 'spec', 'always']));
  });

  /** What a server tells who comes as another server. */
  const asServer = (shown?: Certificate): Promise<string> =>
    new Promise((resolve) => {
      const encrypted = tlsConnect(6222, first().management, {
        ca: authority(),
        checkServerIdentity: () => undefined,
        ...(shown !== undefined && { cert: shown.certificate, key: shown.key }),
      });
      encrypted.on('error', (e: NodeJS.ErrnoException) => resolve(e.code ?? e.message));
      encrypted.on('data', (told) => {
        resolve(`let in: ${told.toString()}`);
        encrypted.destroy();
      });
      encrypted.on('close', () => resolve('closed without a word'));
    });

  it('let no server in that shows no certificate of theirs', async () => {
    // Between servers TLS comes first: what a stranger is told before it has shown a certificate is nothing.
    expect(await asServer()).toMatch(/CERTIFICATE_REQUIRED/);
  });

  it('let no server in that shows a certificate of the CA for another key than theirs', async () => {
    const second = cluster.hosts[1]!;
    const own = tlsFiles(second.dir);
    const known = { certificate: readFileSync(own.certificate, 'utf8'), key: readFileSync(own.key, 'utf8') };
    expect(await asServer(known)).toMatch(/^let in: INFO /);
    const names = ['ctl2', second.management];
    const made = await issueServerCertificate(readAuthority(cluster.dir), names, Date.now());
    expect(await asServer(made)).not.toMatch(/let in/);
  });

  it('are one cluster when each certificate was issued anew, and init has run again', async () => {
    const conf = (): string[] => cluster.hosts.map((h) => readFileSync(join(h.dir, 'nats.conf'), 'utf8'));
    const before = conf();
    for (const host of cluster.hosts) await renewServerCertificate(host.dir, [], cluster.dir);
    await cluster.init();
    // But for what JetStream may keep, which goes by the disk.
    const lasting = (texts: string[]): string[] => texts.map((text) => text.replace(/max_file_store: \d+/, ''));
    expect(lasting(conf())).toEqual(lasting(before));
    // One after the other shows the new one to others that show the old one.
    for (const host of cluster.hosts) {
      await host.kill();
      await host.start();
      await isWhole(host);
    }
  });

  /** Resolves when this server sees so many, itself as well. */
  const sees = (host: HostServer, count: number): Promise<void> =>
    whenClusterServes(async () => {
      const seen = await natsServers({ key: revoker(), servers: [host.url], ca: authority() });
      if (seen.length < count) throw new Error(`${host.name} sees ${seen.length} servers`);
    });
  const isWhole = (host: HostServer): Promise<void> => sees(host, 3);

  /** Number of the certificate that a server shows to clients. */
  async function shownTo(host: HostServer): Promise<string> {
    let shown = '';
    const options = natsOptions({ name: 'spec', servers: [host.url], credentials: inventory() });
    const tls = {
      ...options.tls,
      checkServerIdentity: (_: string, { raw }: { raw: Uint8Array }) => {
        shown = new X509Certificate(raw).serialNumber;
        return undefined;
      },
    };
    await (await connectNats({ ...options, tls, reconnect: false, timeout: 20_000 })).close();
    return shown;
  }

  /** What was acknowledged, and those of it that are not there, of writes that go on all the time until `work` is done. */
  async function writingWhile(to: Bus, work: () => Promise<void>): Promise<{ acknowledged: string[]; lost: string[] }> {
    const revisions = new Map<string, number>();
    const bucket = to.bucket<object>('idempotency');
    const run = randomUUID();
    let ended = false;
    const write = async (key: string): Promise<void> => {
      try {
        revisions.set(key, await bucket.create(key, {}));
      } catch {
        // Nothing was promised.
        await pause(50);
      }
    };
    const writing = (async () => {
      for (let n = 0; !ended; n++) await write(`spec.${run}.${n}`);
    })();
    try {
      await work();
    } finally {
      ended = true;
      await writing;
    }
    const stored = new Map((await whenClusterServes(() => bucket.list())).map((e) => [e.key, e.revision]));
    const acknowledged = [...revisions.keys()];
    const lost = acknowledged.filter((key) => stored.get(key) !== revisions.get(key));
    return { acknowledged, lost: lost.map((key) => `${key} at ${revisions.get(key)}, stored at ${stored.get(key)}`) };
  }

  it('show another certificate when they are reloaded, stay one cluster, and lose nothing that they acknowledged', async () => {
    const renewed = cluster.hosts[1]!;
    const before = await shownTo(renewed);
    const { acknowledged, lost } = await writingWhile(bus!, async () => {
      await renewServerCertificate(renewed.dir, [], cluster.dir);
      for (const host of cluster.hosts) await host.reload();
      await whenClusterServes(async () => {
        if ((await shownTo(renewed)) === before) throw new Error('it shows the old one');
      });
      for (const host of cluster.hosts) await isWhole(host);
      // The new one opens routes as well.
      await renewed.kill();
      await renewed.start();
      for (const host of cluster.hosts) await isWhole(host);
    });
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(lost).toEqual([]);
  });

  it('lose nothing when one of them gets another key and each is restarted, and then refuse the one that it had', async () => {
    const renewed = cluster.hosts[2]!;
    const at = tlsFiles(renewed.dir);
    const before = { certificate: readFileSync(at.certificate, 'utf8'), key: readFileSync(at.key, 'utf8') };
    rmSync(at.key);
    await cluster.init();
    expect(pinOf(readFileSync(at.certificate, 'utf8'))).not.toBe(pinOf(before.certificate));
    const { acknowledged, lost } = await writingWhile(bus!, async () => {
      for (const host of cluster.hosts) {
        await host.kill();
        await host.start();
        // Those that were restarted know the new key alone, which its host shows when it is its turn.
        await sees(host, host === renewed ? 3 : 2);
      }
      for (const host of cluster.hosts) await isWhole(host);
    });
    expect(await asServer(before)).not.toMatch(/let in/);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(lost).toEqual([]);
  });

  it('let nobody in who holds no CA', async () => {
    const { ca: _ca, ...without } = inventory();
    const attempt = connectBus({
      name: 'inventory',
      servers: cluster.urls,
      credentials: without,
      connectTimeoutMs: 2_000,
    });
    await expect(attempt).rejects.toThrow('asks for TLS');
  });
});

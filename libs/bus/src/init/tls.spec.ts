import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  existsSync,
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
import { connect } from '@nats-io/transport-node';
import {
  connectBus,
  credentialsFile,
  enableTls,
  initCluster,
  natsOptions,
  readCredentials,
  revokedAgentUsers,
} from '../index.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import type { BusCredentials } from '../ports/types.js';
import { issueServerCertificate, newAuthority, shownCertificate } from './certificates.js';
import { readRevokerKey } from './revoker-key.js';
import { certificateNames, isDue, moveKeyApart, readAuthority, renewServerCertificate, tlsFiles } from './tls-files.js';

const DAY_MS = 86_400_000;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-tls-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const init = (natsListen: string, more: { hosts?: string[]; plain?: boolean; agents?: string[] } = {}): Promise<void> =>
  initCluster(dir, { cluster: 'spec', agents: [], natsListen: [natsListen], storeDir: join(dir, 'nats'), ...more });
const names = (): string[] => shownCertificate(file('tls/server.pem')).names;

describe('muster init', () => {
  it('makes a CA and a certificate where other machines reach NATS, and every user knows the CA', async () => {
    await init('10.0.0.1:4222', { hosts: ['muster.example', '10.9.0.1'], agents: ['n1'] });
    expect(names()).toEqual(
      expect.arrayContaining(['muster.example', '10.9.0.1', '10.0.0.1', '127.0.0.1', 'localhost']),
    );
    expect(file('nats.conf')).toContain(`tls {\n  cert_file: "${join(dir, 'tls/server.pem')}"`);
    for (const user of ['inventory', 'fencer', 'agent=n1'])
      expect(readCredentials(credentialsFile(dir, user)).ca).toBe(file('tls/ca.pem'));
    for (const name of ['keys/ca.key', 'tls-key/server.key'])
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('makes none where only this machine reaches NATS, or where nobody wants it', async () => {
    await init('127.0.0.1:4222');
    expect([existsSync(join(dir, 'tls')), file('nats.conf').includes('tls {')]).toEqual([false, false]);
    await init('0.0.0.0:4222', { plain: true });
    expect([existsSync(join(dir, 'tls')), file('nats.conf').includes('tls {')]).toEqual([false, false]);
  });

  it('leaves an installation without TLS as it is, whose NATS others reach already', async () => {
    await init('10.0.0.1:4222', { plain: true });
    await init('10.0.0.1:4222');
    expect(existsSync(join(dir, 'tls'))).toBe(false);
  });

  it('gives TLS to one that others reach from now on, and never takes it back', async () => {
    await init('127.0.0.1:4222');
    await init('10.0.0.1:4222');
    expect(names()).toContain('10.0.0.1');
    await init('127.0.0.1:4222');
    expect(file('nats.conf')).toContain('tls {');
    await expect(init('127.0.0.1:4222', { plain: true })).rejects.toThrow('has a CA');
  });

  it('keeps CA and certificate when it runs again, and issues another one for a new address', async () => {
    await init('10.0.0.1:4222', { hosts: ['fd00::7'] });
    const [ca, before] = [file('tls/ca.pem'), file('tls/server.pem')];
    await init('10.0.0.1:4222', { hosts: ['fd00::7'] });
    expect([file('tls/ca.pem') === ca, file('tls/server.pem') === before]).toEqual([true, true]);
    await init('10.0.0.2:4222');
    expect(file('tls/ca.pem')).toBe(ca);
    expect(names()).toEqual(expect.arrayContaining(['10.0.0.1', '10.0.0.2']));
  });

  it('keeps the key of the server apart from what may be seen of its certificate', async () => {
    await init('10.0.0.1:4222');
    expect(readdirSync(join(dir, 'tls')).sort()).toEqual(['ca.pem', 'server.pem']);
    expect(file('nats.conf')).toContain(`key_file: "${join(dir, 'tls-key/server.key')}"`);
  });

  it('gives the key of an earlier Muster’s server a folder of its own', async () => {
    await init('10.0.0.1:4222');
    const conf = file('nats.conf');
    asEarlier(dir);
    const key = file('tls/server.key');
    await init('10.0.0.1:4222');
    expect([file('tls-key/server.key'), file('nats.conf')]).toEqual([key, conf]);
    expect(readdirSync(join(dir, 'tls')).sort()).toEqual(['ca.pem', 'server.pem']);
  });

  it('refuses what a certificate cannot name', async () => {
    await expect(init('10.0.0.1:4222', { hosts: ['a b'] })).rejects.toThrow('"a b" is no host name');
  });
});

describe('the names of a certificate', () => {
  const own = { hostname: 'control-1', addresses: ['10.0.0.1', '10.1.0.1'] };

  it('are all addresses of the machine where NATS listens on all', () => {
    expect(certificateNames(['0.0.0.0:4222'], ['given'], own)).toEqual([
      'given',
      'control-1',
      '10.0.0.1',
      '10.1.0.1',
      'localhost',
      '127.0.0.1',
      '::1',
    ]);
    expect(certificateNames(['10.0.0.1:4222'], [], own)).not.toContain('10.1.0.1');
  });
});

describe('a certificate is due', () => {
  it('half a year before its end, or when it lacks a name', async () => {
    const now = Date.UTC(2026, 0, 1);
    const { certificate } = await issueServerCertificate(await newAuthority('spec', now), ['a', '::1'], now);
    expect(isDue(certificate, ['a', '0:0:0:0:0:0:0:1'], now + 500 * DAY_MS)).toBe(false);
    expect(isDue(certificate, ['a'], now + 600 * DAY_MS)).toBe(true);
    expect(isDue(certificate, ['a', 'b'], now)).toBe(true);
  });
});

/** As an earlier Muster wrote it: the key beside its certificate. */
function asEarlier(at: string): void {
  renameSync(join(at, 'tls-key/server.key'), join(at, 'tls/server.key'));
  rmSync(join(at, 'tls-key'), { recursive: true });
  const conf = join(at, 'nats.conf');
  writeFileSync(conf, readFileSync(conf, 'utf8').replaceAll('/tls-key/', '/tls/'));
}

describe('a key beside its certificate', () => {
  it('moves with every line of nats.conf that names it, and with none that names another', async () => {
    await init('10.0.0.1:4222');
    const more =
      'cluster {\n  tls {\n    key_file: "/x/tls/server.key"\n    ca_file: "/x/tls/ca.pem"\n  }\n}\nhttps { key_file: "/y/tls/other.key" }\n';
    writeFileSync(join(dir, 'nats.conf'), file('nats.conf') + more);
    const conf = file('nats.conf');
    asEarlier(dir);
    moveKeyApart(dir);
    expect(file('nats.conf')).toBe(conf.replace('/x/tls/server.key', '/x/tls-key/server.key'));
    expect(existsSync(join(dir, 'tls/server.key'))).toBe(false);
  });

  it('gives way to one that came later', async () => {
    await init('10.0.0.1:4222');
    const key = file('tls-key/server.key');
    writeFileSync(join(dir, 'tls/server.key'), 'left over');
    moveKeyApart(dir);
    expect([file('tls-key/server.key'), existsSync(join(dir, 'tls/server.key'))]).toEqual([key, false]);
  });
});

describe('muster tls renew', () => {
  it('leaves the key where the server has it', async () => {
    await init('10.0.0.1:4222');
    asEarlier(dir);
    const before = file('tls/server.key');
    await renewServerCertificate(dir, []);
    expect(existsSync(join(dir, 'tls-key'))).toBe(false);
    expect(file('tls/server.key')).not.toBe(before);
    expect(new X509Certificate(file('tls/server.pem')).checkPrivateKey(createPrivateKey(file('tls/server.key')))).toBe(
      true,
    );
  });

  it('issues another certificate with the names that it had, and more', async () => {
    await init('10.0.0.1:4222');
    const [ca, before] = [file('tls/ca.pem'), names()];
    await renewServerCertificate(dir, ['10.7.0.1']);
    expect([file('tls/ca.pem'), names()]).toEqual([ca, [...before, '10.7.0.1']]);
  });

  it('says what is missing where there is no CA', async () => {
    await init('127.0.0.1:4222');
    await expect(renewServerCertificate(dir, [])).rejects.toThrow('tls/ca.pem cannot be read');
  });
});

describe('NATS with TLS', () => {
  let nats: TestNats;
  let plain: TestNats;
  const user = (at: TestNats): BusCredentials => readCredentials(credentialsFile(at.dir, 'inventory'));
  beforeAll(async () => {
    nats = await startTestNats({ users: true, tls: true, agents: ['n1'] });
    plain = await startTestNats({ users: true });
  });
  afterAll(async () => {
    await nats.stop();
    await plain.stop();
  });
  const connected = async (credentials: BusCredentials | undefined, servers = [nats.url]): Promise<void> => {
    const bus = await connectBus({
      name: 'spec',
      servers,
      connectTimeoutMs: 5000,
      ...(credentials && { credentials }),
    });
    await bus.close();
  };
  /** Until `work` is done the server shows this certificate. */
  const showing = async (issue: () => Promise<{ certificate: string; key: string }>, work: () => Promise<void>) => {
    const { certificate, key } = tlsFiles(nats.dir);
    const before = [certificate, key].map((name) => [name, readFileSync(name, 'utf8')] as const);
    const other = await issue();
    writeFileSync(certificate, other.certificate);
    writeFileSync(key, other.key);
    await nats.restart();
    try {
      await work();
    } finally {
      for (const [name, text] of before) writeFileSync(name, text);
      await nats.restart();
    }
  };

  it('lets services in that know its CA, by address and by name', async () => {
    await connected(user(nats));
    await connected(user(nats), [nats.url.replace('127.0.0.1', 'localhost')]);
  });

  it('refuses whoever shows no credentials, and whoever shows none of its own', async () => {
    const { ca, ...stranger } = user(plain);
    expect(ca).toBeUndefined();
    const options = { name: 'spec', servers: [nats.url] };
    const trusted = user(nats).ca!;
    await expect(connectBus({ ...options, credentials: { ...stranger, ca: trusted } })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      message: `NATS at ${nats.url} refuses user inventory`,
    });
    await expect(connect({ ...natsOptions({ ...options, ca: trusted }), reconnect: false })).rejects.toThrow(
      /authorization violation/i,
    );
  });

  it('is told of revocations', async () => {
    const options = { key: readRevokerKey(join(nats.dir, 'keys/revoker.key')), servers: [nats.url] };
    expect(await revokedAgentUsers({ ...options, ca: user(nats).ca! }, ['UX'])).toEqual([]);
    await expect(revokedAgentUsers(options, ['UX'])).rejects.toThrow(`NATS at ${nats.url}: it asks for TLS`);
  });

  it('is not spoken to without its CA', async () => {
    const { ca: _ca, ...without } = user(nats);
    await expect(connected(without)).rejects.toThrow(
      `NATS at ${nats.url}: it asks for TLS, and the credentials hold no CA`,
    );
  });

  it('is not believed by another CA', async () => {
    const { certificate } = await newAuthority('spec', Date.now());
    await expect(connected({ ...user(nats), ca: certificate })).rejects.toThrow(
      `NATS at ${nats.url}: its certificate is signed by another CA`,
    );
  });

  it('is refused by a client that asks for TLS where there is none, whoever took it away', async () => {
    await expect(connected({ ...user(plain), ca: user(nats).ca! }, [plain.url])).rejects.toThrow(
      `NATS at ${plain.url}: it offers no TLS, and the credentials ask for it`,
    );
  });

  it('is refused when its certificate names somebody else', async () => {
    await showing(
      () => issueServerCertificate(readAuthority(nats.dir), ['localhost', '10.0.0.9'], Date.now()),
      async () => {
        await expect(connected(user(nats))).rejects.toThrow(
          `NATS at ${nats.url}: its certificate does not name this address`,
        );
      },
    );
  });

  it('is refused when its certificate has expired', async () => {
    await showing(
      () => issueServerCertificate(readAuthority(nats.dir), ['127.0.0.1'], Date.now() - 800 * DAY_MS),
      async () => {
        await expect(connected(user(nats))).rejects.toThrow(`NATS at ${nats.url}: its certificate has expired`);
      },
    );
  });
});

describe('muster tls enable', () => {
  it('gives an installation TLS; until it is said again, clients without a CA are let in', async () => {
    const nats = await startTestNats({ users: true, agents: ['n1'] });
    const agent = credentialsFile(nats.dir, 'agent=n1');
    const before = readCredentials(agent);
    const attempt = async (credentials: BusCredentials): Promise<string> => {
      try {
        await (await connectBus({ name: 'spec', servers: [nats.url], credentials, connectTimeoutMs: 5000 })).close();
        return 'connected';
      } catch (e) {
        return (e as Error).message;
      }
    };
    try {
      expect(before.ca).toBeUndefined();
      await enableTls(nats.dir, ['10.0.0.1'], true);
      const after = readCredentials(agent);
      expect(after).toEqual({ ...before, ca: readFileSync(join(nats.dir, 'tls/ca.pem'), 'utf8') });
      await nats.restart();
      expect([await attempt(before), await attempt(after)]).toEqual(['connected', 'connected']);
      await enableTls(nats.dir, [], false);
      expect(readCredentials(agent)).toEqual(after);
      await nats.restart();
      expect([await attempt(before), await attempt(after)]).toEqual([
        expect.stringContaining('it asks for TLS'),
        'connected',
      ]);
    } finally {
      await nats.stop();
    }
  });

  it('refuses a folder that is no cluster', async () => {
    await expect(enableTls(dir, [], false)).rejects.toThrow('was not made by this version of muster init');
  });
});

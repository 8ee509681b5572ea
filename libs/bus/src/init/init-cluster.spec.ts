import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, type User } from '@nats-io/jwt';
import { parse } from 'yaml';
import {
  addAgentUsers,
  credentialsFile,
  initCluster,
  readAgentsKey,
  readCredentials,
  readRevokerKey,
} from '../index.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-init-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const init = (natsListen: string, natsVersion?: string): Promise<void> =>
  initCluster(dir, {
    cluster: 'spec',
    agents: [],
    natsListen: [natsListen],
    storeDir: join(dir, 'nats'),
    ...(natsVersion !== undefined && { natsVersion }),
  });
const nats = (): unknown => (parse(file('muster.yaml')) as { nats: unknown }).nats;

describe('initCluster', () => {
  it('keeps where NATS listens in muster.yaml, apart from where services reach it', async () => {
    await init('0.0.0.0:4300');
    expect(nats()).toEqual({
      listen: '0.0.0.0:4300',
      servers: ['nats://127.0.0.1:4300'],
      store: expect.stringMatching(/nats$/),
    });
  });

  it('lets muster.yaml follow when NATS shall listen elsewhere, and keeps what the operator wrote there', async () => {
    await init('127.0.0.1:4300');
    writeFileSync(join(dir, 'muster.yaml'), `${file('muster.yaml')}# mine\nreplicas: 1\n`);
    await init('0.0.0.0:4301');
    expect(nats()).toMatchObject({ listen: '0.0.0.0:4301', servers: ['nats://127.0.0.1:4301'] });
    expect(file('muster.yaml')).toContain('# mine\nreplicas: 1\n');
    expect(file('nats.conf')).toContain('listen: "0.0.0.0:4301"');
  });

  it('does not touch a muster.yaml that says the same', async () => {
    await init('127.0.0.1:4300');
    const own = `nats: {listen: "127.0.0.1:4300", servers: ["nats://a:1", "nats://b:1"]}\n`;
    writeFileSync(join(dir, 'muster.yaml'), own);
    await init('127.0.0.1:4300');
    expect(file('muster.yaml')).toBe(own);
  });
});

describe('initCluster on a folder that is a cluster', () => {
  it('keeps keys and agents, and issues services what this version of Muster allows them', async () => {
    await init('127.0.0.1:4300');
    await addAgentUsers(dir, ['n1']);
    const kept = ['keys/operator.key', 'keys/agents.key', 'keys/datagram.key', 'keys/secrets.key'];
    const keys = kept.map(file);
    const agent = file('creds/agent=n1.json');
    const before = readCredentials(credentialsFile(dir, 'fencer'));
    writeFileSync(credentialsFile(dir, 'fencer'), JSON.stringify({ ...before, jwt: 'an older one' }));
    await init('127.0.0.1:4300');
    expect(kept.map(file)).toEqual(keys);
    expect(file('creds/agent=n1.json')).toBe(agent);
    const after = readCredentials(credentialsFile(dir, 'fencer'));
    expect(after.seed).toBe(before.seed);
    expect(decode<User>(after.jwt).nats).toEqual(decode<User>(before.jwt).nats);
  });

  it('lets nobody else read what it wrote', async () => {
    await init('127.0.0.1:4300');
    for (const name of [
      'keys/operator.key',
      'keys/agents.key',
      'keys/revoker.key',
      'creds/inventory.json',
      'nats-accounts.conf',
    ])
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
    const { seed } = readAgentsKey(join(dir, 'keys/agents.key'));
    const { operator, services } = JSON.parse(file('keys/operator.key')) as Record<string, string>;
    for (const secret of [seed, operator!, services!]) expect(file('nats-accounts.conf')).not.toContain(secret);
  });

  it('lets the server be told of revocations from its next start on, where an earlier Muster did not', async () => {
    await init('127.0.0.1:4300');
    rmSync(join(dir, 'keys/revoker.key'));
    const earlier = file('nats-accounts.conf').replace(/^resolver: .*$/m, 'resolver: MEMORY');
    writeFileSync(join(dir, 'nats-accounts.conf'), earlier);
    await addAgentUsers(dir, ['n1']);
    expect(file('nats-accounts.conf')).toContain(`resolver: { type: full, dir: "${join(dir, 'nats/accounts')}"`);
    expect(readRevokerKey(join(dir, 'keys/revoker.key')).account).toBe(
      readAgentsKey(join(dir, 'keys/agents.key')).account,
    );
    // A nats.conf of somebody's own: nobody knows where its server may keep accounts.
    writeFileSync(join(dir, 'nats.conf'), 'include "nats-accounts.conf"\n');
    await addAgentUsers(dir, ['n2']);
    expect(file('nats-accounts.conf')).toContain('resolver: MEMORY\n');
  });

  it('renews the users of an earlier Muster, with their keys and all that was stored', async () => {
    await init('127.0.0.1:4300');
    const { jwt, ...earlier } = readCredentials(credentialsFile(dir, 'fencer'));
    rmSync(dir, { recursive: true });
    mkdirSync(join(dir, 'creds'), { recursive: true });
    mkdirSync(join(dir, 'nats/jetstream/$G/streams'), { recursive: true });
    writeFileSync(join(dir, 'nats/jetstream/$G/streams/x'), 'stored');
    writeFileSync(credentialsFile(dir, 'fencer'), JSON.stringify(earlier));
    writeFileSync(join(dir, 'users.json'), '{}');
    await expect(addAgentUsers(dir, ['n1'])).rejects.toThrow('users of an earlier Muster');
    await init('127.0.0.1:4300');
    const renewed = readCredentials(credentialsFile(dir, 'fencer'));
    expect(renewed).toMatchObject(earlier);
    expect(renewed.jwt).not.toBe(jwt);
    const { account } = readAgentsKey(join(dir, 'keys/agents.key'));
    expect(file(`nats/jetstream/${account}/streams/x`)).toBe('stored');
    await addAgentUsers(dir, ['n1']);
  });
});

describe('addAgentUsers', () => {
  it('adds users and leaves the rest of the folder as it is', async () => {
    await init('0.0.0.0:4300', '2.12.1');
    const others = ['nats.conf', 'muster.yaml', 'keys/operator.key', 'keys/agents.key', 'keys/datagram.key'];
    const before = others.map(file);
    await addAgentUsers(dir, ['host1-1']);
    const key = file('creds/agent=host1-1.json');
    await addAgentUsers(dir, ['host1-1', 'host2-2']);
    expect(others.map(file)).toEqual(before);
    expect(file('creds/agent=host1-1.json')).toBe(key);
    expect(readCredentials(credentialsFile(dir, 'agent=host2-2')).user).toBe('agent=host2-2');
  });

  it('makes users anew that another key has signed', async () => {
    await init('127.0.0.1:4300');
    await addAgentUsers(dir, ['n1']);
    const before = file('creds/agent=n1.json');
    rmSync(join(dir, 'keys/agents.key'));
    await init('127.0.0.1:4300');
    await addAgentUsers(dir, ['n1']);
    expect(file('creds/agent=n1.json')).not.toBe(before);
  });

  it('refuses a folder that is no cluster, and a node that cannot be', async () => {
    await expect(addAgentUsers(dir, ['host1-1'])).rejects.toThrow('was not made by muster init');
    await init('127.0.0.1:4300');
    await expect(addAgentUsers(dir, ['a b'])).rejects.toThrow('"a b" cannot name a node');
  });
});

describe('the key of agents', () => {
  it('is refused without quoting it', async () => {
    await init('127.0.0.1:4300');
    const key = join(dir, 'keys/agents.key');
    const { seed } = readAgentsKey(key);
    writeFileSync(key, `{"seed": "${seed}X"`);
    expect(() => readAgentsKey(key)).toThrow(`the key file ${key} must hold {"account", "seed"}`);
    expect(() => readAgentsKey(join(dir, 'none'))).toThrow('cannot be read');
  });
});

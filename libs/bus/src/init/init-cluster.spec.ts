import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { addAgentUsers, initCluster } from '../index.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-init-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const init = (natsListen: string, natsVersion?: string): void =>
  initCluster(dir, {
    cluster: 'spec',
    agents: [],
    natsListen: [natsListen],
    storeDir: join(dir, 'nats'),
    ...(natsVersion !== undefined && { natsVersion }),
  });
const nats = (): unknown => (parse(file('muster.yaml')) as { nats: unknown }).nats;

describe('initCluster', () => {
  it('keeps where NATS listens in muster.yaml, apart from where services reach it', () => {
    init('0.0.0.0:4300');
    expect(nats()).toEqual({ listen: '0.0.0.0:4300', servers: ['nats://127.0.0.1:4300'] });
  });

  it('lets muster.yaml follow when NATS shall listen elsewhere, and keeps what the operator wrote there', () => {
    init('127.0.0.1:4300');
    writeFileSync(join(dir, 'muster.yaml'), `${file('muster.yaml')}# mine\nreplicas: 1\n`);
    init('0.0.0.0:4301');
    expect(nats()).toEqual({ listen: '0.0.0.0:4301', servers: ['nats://127.0.0.1:4301'] });
    expect(file('muster.yaml')).toContain('# mine\nreplicas: 1\n');
    expect(file('nats.conf')).toContain('listen: "0.0.0.0:4301"');
  });

  it('does not touch a muster.yaml that says the same', () => {
    init('127.0.0.1:4300');
    const own = `nats: {listen: "127.0.0.1:4300", servers: ["nats://a:1", "nats://b:1"]}\n`;
    writeFileSync(join(dir, 'muster.yaml'), own);
    init('127.0.0.1:4300');
    expect(file('muster.yaml')).toBe(own);
  });
});

describe('addAgentUsers', () => {
  it('adds users and leaves the rest of the folder as it is', () => {
    init('0.0.0.0:4300', '2.12.1');
    const before = ['nats.conf', 'muster.yaml', 'keys/datagram.key', 'creds/inventory.json'].map(file);
    addAgentUsers(dir, ['host1-1']);
    const key = file('creds/agent=host1-1.json');
    addAgentUsers(dir, ['host1-1', 'host2-2']);
    expect(['nats.conf', 'muster.yaml', 'keys/datagram.key', 'creds/inventory.json'].map(file)).toEqual(before);
    expect(file('creds/agent=host1-1.json')).toBe(key);
    expect(file('nats-users.conf')).toMatch(/# agent=host1-1\n[^]*# agent=host2-2\n/);
  });

  it('refuses a folder that is no cluster, and a node that cannot be', () => {
    expect(() => addAgentUsers(dir, ['host1-1'])).toThrow('was not made by muster init');
    init('127.0.0.1:4300');
    expect(() => addAgentUsers(dir, ['a b'])).toThrow('"a b" cannot name a node');
  });
});

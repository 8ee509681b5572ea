import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './index.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-config-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const load = (yaml: string, env: Record<string, string> = {}) => {
  writeFileSync(join(dir, 'muster.yaml'), yaml);
  return loadConfig('fencer', { MUSTER_CONFIG: join(dir, 'muster.yaml'), ...env });
};

describe('the configuration', () => {
  it('has a default for everything', () => {
    const config = loadConfig('fencer', {});
    expect(config).toMatchObject({
      cluster: 'muster',
      nats: { servers: ['nats://127.0.0.1:4222'] },
      http: { listen: '127.0.0.1:9007' },
      ansible: { parallel: 4, sitePlaybook: 'site.yml' },
      logLevel: 'info',
      replicas: 1,
    });
    expect(config.instance).toMatch(/^fencer-/);
    expect(config.credentials).toBeUndefined();
  });

  it('takes paths relative to its file, and finds its credentials there', () => {
    const config = load('keys: {secrets: keys/secrets.key}\nansible: {user: ops}');
    expect(config.keys.secrets).toBe(join(dir, 'keys/secrets.key'));
    expect(config.keys.agents).toBe(join(dir, 'keys/agents.key'));
    expect(config.credentials).toBe(join(dir, 'creds/fencer.json'));
    expect(config.dataDir).toBe(join(dir, 'data'));
    expect(config.ansible).toMatchObject({ user: 'ops', parallel: 4 });
    expect(config.ansible.playbooks).toMatch(/playbooks$/);
    expect(config.ansible).toMatchObject({ defaultServices: join(dir, 'services') });
    expect(config.ansible.services).toBeUndefined();
    expect(load('ansible: {services: mine}').ansible.services).toBe(join(dir, 'mine'));
  });

  it('lets the environment win', () => {
    const config = load('instance: a\nnats: {servers: ["nats://a:1"]}', {
      MUSTER_INSTANCE: 'b',
      MUSTER_NATS: 'nats://b:1, nats://c:1',
      MUSTER_CREDENTIALS: '/x.json',
      MUSTER_LOG_LEVEL: 'debug',
    });
    expect(config).toMatchObject({
      instance: 'b',
      nats: { servers: ['nats://b:1', 'nats://c:1'] },
      credentials: '/x.json',
      logLevel: 'debug',
    });
  });

  it('is told which machine it runs on, and goes by that name', () => {
    const env = { MUSTER_HOST: 'control1', MUSTER_HOST_ADDRESSES: '192.0.2.1, 2001:db8::1' };
    const { host, instance } = load('host: {name: other}', env);
    expect(host).toEqual({ name: 'control1', addresses: ['192.0.2.1', '2001:db8::1'] });
    expect(instance).toBe('fencer-control1');
    expect(load('host: {name: control2.example.org}').instance).toBe('fencer-control2');
    expect(load('').host).toEqual({ addresses: [] });
  });

  it('starts in no container that is not told which machine that is', () => {
    const container = { MUSTER_CONTAINER: 'true' };
    const told = { MUSTER_HOST: 'control1', MUSTER_HOST_ADDRESSES: '192.0.2.1' };
    for (const missing of ['MUSTER_HOST', 'MUSTER_HOST_ADDRESSES'])
      for (const env of [{ ...container, ...told, [missing]: '' }, container])
        expect(() => load('', env)).toThrow(/^MUSTER_HOST and MUSTER_HOST_ADDRESSES must .* its own host$/);
    expect(load('', { ...container, ...told }).host.name).toBe('control1');
    expect(load('host: {name: control1, addresses: [192.0.2.1]}', container).host.name).toBe('control1');
  });

  it('completes the initial settings from profile and defaults', () => {
    const config = load('initial: {fencing: {mode: enforce}, detection: {profile: fast}}');
    expect(config.initial?.fencing).toEqual({
      mode: 'enforce',
      hung: 'fence',
      afterRecovery: 'power-on',
      storm: { brakeAtLeast: 2, brakeShare: 0.2, capAtLeast: 3, capShare: 0.1, flaps: 3 },
    });
    expect(config.initial?.detection).toMatchObject({ profile: 'fast', interval: 250 });
  });

  it('completes storm limits from the defaults', () => {
    const config = load('initial: {fencing: {storm: {capAtLeast: 40, flaps: 9}}}');
    const storm = { brakeAtLeast: 2, brakeShare: 0.2, capAtLeast: 40, capShare: 0.1, flaps: 9 };
    expect(config.initial?.fencing?.storm).toEqual(storm);
  });

  it('takes networks as they are', () => {
    const networks = ['10.0.0.0/8', '192.0.2.7', 'fd00::/64', 'fd00::7', '203.0.113.9/32'];
    expect(load(`compat: {allowFrom: ${JSON.stringify(networks)}}`).compat.allowFrom).toEqual(networks);
    expect(load('').compat.allowFrom).toBeUndefined();
  });

  it.each([
    ['ansible: {paralel: 3}', 'ansible.paralel is not a setting'],
    ['ansible: {parallel: 0}', 'ansible.parallel: must not be less than 1'],
    ['nats: {servers: [localhost]}', 'nats.servers: each must look like nats://host:port'],
    ['nats: 7', 'nats: '],
    ['http: {listen: "9007"}', 'http.listen: must be host:port or unix:/path'],
    ['http: {trustProxy: 10.9.0.1}', 'http.trustProxy: must be an array'],
    ['http: {trustProxy: [10.9.0.0/33]}', 'http.trustProxy: each must be an address or a CIDR'],
    ['http: {trustProxy: [0.0.0.0/0]}', 'http.trustProxy: each must be an address or a CIDR'],
    ['http: {trustProxy: ["true"]}', 'http.trustProxy: each must be an address or a CIDR'],
    ['http: {tls: {cert: a.pem, key: a.key}}', 'http.tls.cert is not a setting'],
    ['http: {tls: {certificate: a.pem}}', 'http.tls.key: must be'],
    ['http: {tls: {certificate: "", key: a.key}}', 'http.tls.certificate: must be'],
    ['compat: {allowFrom: 10.0.0.0/8}', 'compat.allowFrom: must be an array'],
    [
      'compat: {allowFrom: [10.0.0.0/8, 10.0.0.0/33]}',
      'compat.allowFrom: "10.0.0.0/33" is neither an address nor a CIDR',
    ],
    ['compat: {allowFrom: [lan]}', 'compat.allowFrom: "lan" is neither'],
    ['compat: {allowFrom: [""]}', 'compat.allowFrom: "" is neither'],
    ['compat: {allowFrom: [10]}', 'compat.allowFrom: 10 is neither'],
    ['compat: {allowFrom: [10.0.0.0/255.0.0.0]}', 'compat.allowFrom: "10.0.0.0/255.0.0.0" is neither'],
    ['compat: {allowFrom: ["fe80::1%eth0"]}', 'compat.allowFrom: "fe80::1%eth0" is neither'],
    ['compat: {allowFrom: [0.0.0.0/0]}', 'compat.allowFrom: "0.0.0.0/0" is everybody'],
    ['compat: {allowFrom: ["::/0"]}', 'compat.allowFrom: "::/0" is everybody'],
    [
      'compat: {allowFrom: [10.1.2.3/8]}',
      'compat.allowFrom: "10.1.2.3/8" has bits behind its prefix: write 10.0.0.0/8',
    ],
    ['compat: {allowFrom: ["fd00::1/64"]}', 'compat.allowFrom: "fd00::1/64" has bits behind its prefix'],
    [
      'compat: {allowFrom: ["::ffff:10.0.0.0/104"]}',
      'compat.allowFrom: "::ffff:10.0.0.0/104" is IPv4: write it as such',
    ],
    ['host: {name: "a b"}', 'host.name: must be the name of a machine'],
    ['host: {addresses: [control1]}', 'host.addresses: each must be an IP address'],
    ['compat: {alowFrom: []}', 'compat.alowFrom is not a setting'],
    ['replicas: 2', 'replicas: must be one of the following values: 1, 3, 5'],
    ['cluster: "a b"', 'cluster: must match'],
    ['initial: {fencing: {mode: maybe}}', 'initial: fencing.mode must be observe or enforce'],
    ['initial: {fencing: {storm: {caps: 3}}}', 'initial: fencing.storm.caps is not a setting'],
    ['initial: {fencing: {storm: 3}}', 'initial: fencing.storm must be a mapping'],
    ['initial: {fencing: {storm: {flaps: 0}}}', 'initial: fencing.storm: flaps (0) must be a whole number from 1 on'],
    [
      'initial: {fencing: {storm: {brakeShare: 0.6}}}',
      'initial: fencing.storm: brakeShare (0.6) must be from 0 to 0.5',
    ],
    ['initial: {detection: {freshness: 9000}}', 'initial: detection: freshness (9000)'],
    ['initial: {fence: 1}', 'initial: fence is not a setting'],
    ['agents: {nats: {management: 10.0.0.1}}', 'agents.nats.management: a list of servers is expected'],
    ['agents: {nats: {management: [10.0.0.1]}}', 'agents.nats.management: a list of servers is expected'],
    ['agents: {nats: {"a b": [nats://a:1]}}', 'agents.nats: "a b" cannot be the name'],
    ['- a', 'a mapping of settings is expected'],
    ['a: [', 'muster.yaml: '],
  ])('refuses %s in one line that names it', (yaml, message) => {
    let error: unknown;
    try {
      load(yaml);
    } catch (e) {
      error = e;
    }
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain('\n');
  });
});

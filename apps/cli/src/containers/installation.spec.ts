import { createHash } from 'node:crypto';
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
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { initHosts, parseControlHosts, shownCertificate, type ControlHost } from '#bus';
import { issueServerCertificate } from '#bus/init/certificates.js';
import { readAuthority } from '#bus/init/tls-files.js';
import { hostFiles } from '../hosts/host-files.js';
import {
  configuration,
  configure,
  install,
  renewAdminToken,
  renewUsers,
  type InstallationOptions,
} from './installation.js';
import { Containers, shownFiles } from '#bus/init/shown-files.js';
import { shareAccount } from '#bus/testing/shared-account.js';
import { DEMO_HOSTS, demoNodes } from './demo-files.js';

let top: string;
let o: InstallationOptions;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'muster-installation-'));
  o = {
    dir: join(top, 'etc'),
    store: join(top, 'nats'),
    shown: join(top, 'shown'),
    cluster: 'spec',
    hosts: ['nats', 'control1', '192.0.2.1', '2001:db8::1'],
    agentsReach: { management: '192.0.2.1:4222', backend: '[2001:db8::1]:4222' },
  };
});
afterEach(() => rmSync(top, { recursive: true }));

/** Path → content and rights, of all that was written. */
const all = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(top, { recursive: true, encoding: 'utf8' })
      .map((path) => [path, join(top, path)] as const)
      .map(([path, at]) => {
        const { mode, mtimeMs } = statSync(at);
        const content = statSync(at).isDirectory() ? '' : `${mtimeMs} ${readFileSync(at, 'utf8')}`;
        return [path, `${(mode & 0o777).toString(8)} ${content}`];
      }),
  );
const shownTo = (container: string): string[] =>
  readdirSync(join(o.shown, container), { recursive: true, encoding: 'utf8' }).filter(
    (path) => !statSync(join(o.shown, container, path)).isDirectory(),
  );
const entries = (): { name: string; role: string; sha256: string }[] =>
  JSON.parse(readFileSync(join(o.shown, 'gateway', 'tokens.json'), 'utf8')) as never;

describe('the installation of a composition', () => {
  it('shows the admin token once, and keeps its hash alone', async () => {
    const { result = '' } = await install(o);
    expect(result).toMatch(/^[0-9a-f]{64}$/);
    const sha256 = createHash('sha256').update(result).digest('hex');
    expect(entries()).toEqual([{ name: 'admin', role: 'admin', sha256 }]);
    expect(Object.values(all()).join()).not.toContain(result);
  });

  it('tells agents where NATS is, and makes a key that nodes can let in', async () => {
    const { notes } = await install(o);
    const yaml = parse(readFileSync(join(o.dir, 'muster.yaml'), 'utf8')) as object;
    expect(yaml).toMatchObject({
      cluster: 'spec',
      agents: { nats: { management: ['nats://192.0.2.1:4222'], backend: ['nats://[2001:db8::1]:4222'] } },
    });
    expect(notes.join()).toContain(readFileSync(join(o.dir, 'ssh', 'id_ed25519.pub'), 'utf8').trim());
    expect(readFileSync(join(o.shown, 'nats', 'nats.conf'), 'utf8')).toContain('sync_interval: always');
  });

  it('changes nothing the second time, and shows no token', async () => {
    await install(o);
    const before = all();
    expect(await install(o)).toEqual({ notes: [expect.stringContaining('are kept'), 'nothing has changed'] });
    expect(all()).toEqual(before);
  });

  it('has places for folders of an operator’s own, in who is to see them: a volume that is read only takes no new one', async () => {
    await install(o);
    const isPlace = (path: string): boolean =>
      statSync(join(o.shown, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    const places = [
      'provisioner/services',
      'provisioner/playbooks',
      'gateway/http',
      'gateway/http-key',
      'inventory/http',
    ];
    expect(places.filter((path) => !isPlace(path))).toEqual([]);
    expect(isPlace('inventory/http-key')).toBe(false);
    // One of an earlier Muster has not all of them.
    for (const path of ['etc/http', 'shown/gateway/http']) rmSync(join(top, path), { recursive: true });
    await renewUsers(o);
    expect(isPlace('gateway/http')).toBe(true);
  });

  it('carries on with one that was ended early', async () => {
    await install(o);
    const kept = readFileSync(join(o.dir, 'keys', 'operator.key'), 'utf8');
    rmSync(join(o.dir, 'tokens.json'));
    expect((await install(o)).result).toMatch(/^[0-9a-f]{64}$/);
    expect(readFileSync(join(o.dir, 'keys', 'operator.key'), 'utf8')).toBe(kept);
  });

  it('shows services their part on one of several control hosts, and makes no keys of its own', async () => {
    const hosts = parseControlHosts('ctl1=192.0.2.1,ctl2=192.0.2.2,ctl3=192.0.2.3');
    const cluster = join(top, 'cluster');
    const also = (host: ControlHost): Record<string, string> =>
      hostFiles(host, hosts, { dir: '/etc/muster', store: '/var/lib/muster/nats' });
    await initHosts(cluster, { cluster: 'spec', agents: [], hosts, also });
    renameSync(join(cluster, 'hosts', 'ctl2'), o.dir);
    const { result, notes } = await install(o);
    expect([result, notes[0]]).toEqual([undefined, expect.stringContaining('is one of several control hosts')]);
    expect(existsSync(join(o.dir, 'keys', 'operator.key'))).toBe(false);
    expect(readFileSync(join(o.shown, 'nats', 'nats.conf'), 'utf8')).toContain('server_name: "ctl2"');
    expect(shownTo('nats')).toEqual(expect.arrayContaining(['tls/ca.pem', 'tls-key/server.key']));
    expect(shownTo('fencer').filter((file) => file.startsWith('creds/'))).toEqual(['creds/fencer.json']);
  });

  it('says on one of several control hosts where it is changed, and shows what it has', async () => {
    const hosts = parseControlHosts('ctl1=192.0.2.1,ctl2=192.0.2.2,ctl3=192.0.2.3');
    const also = (host: ControlHost): Record<string, string> =>
      hostFiles(host, hosts, { dir: '/etc/muster', store: '/var/lib/muster/nats' });
    const cluster = join(top, 'cluster');
    await initHosts(cluster, { cluster: 'spec', agents: [], hosts, also });
    renameSync(join(cluster, 'hosts', 'ctl2'), o.dir);
    await install(o);
    const before = all();
    const where = /one of several control hosts.*where muster init --hosts was said.*copy/;
    expect(() => configure(o, 'cluster: spec\n')).toThrow(where);
    expect(() => renewAdminToken(o)).toThrow(where);
    await expect(renewUsers(o)).rejects.toThrow(where);
    expect(all()).toEqual(before);
    expect(configuration(o).result).toContain('replicas: 3');
  });

  it('takes the key of an earlier Muster’s NATS from who sees the certificate', async () => {
    await install(o);
    const key = readFileSync(join(o.dir, 'tls-key', 'server.key'), 'utf8');
    renameSync(join(o.dir, 'tls-key', 'server.key'), join(o.dir, 'tls', 'server.key'));
    const conf = join(o.dir, 'nats.conf');
    writeFileSync(conf, readFileSync(conf, 'utf8').replaceAll('/tls-key/', '/tls/'));
    await install(o);
    expect(shownTo('inventory').filter((file) => file.startsWith('tls'))).toEqual(['tls/ca.pem', 'tls/server.pem']);
    expect(readFileSync(join(o.shown, 'nats', 'tls-key', 'server.key'), 'utf8')).toBe(key);
    expect(readFileSync(join(o.shown, 'nats', 'nats.conf'), 'utf8')).toContain(`${o.dir}/tls-key/server.key"`);
  });

  it('makes another admin token in place of the first', async () => {
    const { result: first } = await install(o);
    const { result: second, notes } = renewAdminToken(o);
    expect(second).not.toBe(first);
    expect(entries()).toHaveLength(1);
    expect(notes).toEqual(['changed for gateway: docker compose restart gateway, where they run']);
  });

  it('takes another muster.yaml for everybody, and none that is wrong', async () => {
    await install(o);
    const yaml = configuration(o).result!;
    expect(() => configure(o, `${yaml}\nreplica: 3\n`)).toThrow('replica is not a setting');
    expect(configuration(o).result).toBe(yaml);
    expect(existsSync(join(o.dir, 'muster.yaml.new'))).toBe(false);
    configure(o, yaml.replace('user: root', 'user: ops'));
    for (const container of Containers.filter((c) => c !== 'nats'))
      expect(readFileSync(join(o.shown, container, 'muster.yaml'), 'utf8')).toContain('user: ops');
  });

  it('gives services of an earlier Muster accounts of their own, and shows them to their containers', async () => {
    await install(o);
    await shareAccount(o.dir);
    const shared = (): object =>
      JSON.parse(readFileSync(join(o.shown, 'fencer', 'creds', 'fencer.json'), 'utf8')) as object;
    await renewUsers(o);
    expect(shared()).toMatchObject({ user: 'fencer', ownAccount: true });
  });

  it('gives users what another version of Muster needs, with their keys', async () => {
    await install(o);
    const before = JSON.parse(readFileSync(join(o.shown, 'fencer', 'creds', 'fencer.json'), 'utf8')) as object;
    writeFileSync(join(o.dir, 'creds', 'fencer.json'), JSON.stringify({ ...before, jwt: 'an older one' }));
    await renewUsers(o);
    const after = JSON.parse(readFileSync(join(o.shown, 'fencer', 'creds', 'fencer.json'), 'utf8')) as object;
    expect(after).toMatchObject({ seed: (before as { seed: string }).seed });
    expect(after).not.toMatchObject({ jwt: 'an older one' });
  });

  it('renews the certificate of NATS before it ends, and where this machine has another address; the CA stays', async () => {
    await install(o);
    const shown = (file: string): string => readFileSync(join(o.shown, 'nats', file), 'utf8');
    const [ca, first] = [shown('tls/ca.pem'), shown('tls/server.pem')];
    expect((await renewUsers(o)).notes.join()).not.toContain('certificate');
    const { notes } = await renewUsers({ ...o, hosts: [...o.hosts, '192.0.2.9'] });
    expect(notes).toEqual([
      expect.stringMatching(/^NATS has a certificate until \d{4}-\d\d-\d\d, for .*192\.0\.2\.9/),
      expect.stringMatching(/^changed for nats, .*: docker compose restart nats /),
    ]);
    expect(shownCertificate(shown('tls/server.pem')).names).toEqual(expect.arrayContaining(['nats', '192.0.2.9']));
    expect([shown('tls/ca.pem'), shown('tls/server.pem') === first]).toEqual([ca, false]);
    const ending = await issueServerCertificate(readAuthority(o.dir), o.hosts, Date.now() - 710 * 86_400_000);
    writeFileSync(join(o.dir, 'tls', 'server.pem'), ending.certificate);
    writeFileSync(join(o.dir, 'tls-key', 'server.key'), ending.key);
    await renewUsers(o);
    expect(shownCertificate(shown('tls/server.pem')).endsAt).toBeGreaterThan(Date.now() + 700 * 86_400_000);
  });

  it('leaves the certificate as it is where the key of the CA lies elsewhere, and says so', async () => {
    await install(o);
    const file = join(o.dir, 'tls', 'server.pem');
    const before = readFileSync(file, 'utf8');
    rmSync(join(o.dir, 'keys', 'ca.key'));
    const { notes } = await renewUsers({ ...o, hosts: ['192.0.2.9'] });
    expect(notes[0]).toContain('muster tls renew');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('is asked for by the other commands', async () => {
    expect(() => renewAdminToken(o)).toThrow('there is no installation yet');
    expect(() => configuration(o)).toThrow('there is no installation yet');
    await expect(renewUsers(o)).rejects.toThrow('there is no installation yet');
  });
});

describe('an installation for the demo', () => {
  it('has users for the agents of its hosts, and a token for its lab, which nobody else sees', async () => {
    const { result } = await install({ ...o, demo: true });
    const token = readFileSync(join(o.shown, 'demo', 'demo', 'token'), 'utf8');
    const sha256 = createHash('sha256').update(token).digest('hex');
    expect(entries()).toEqual([
      { name: 'demo', role: 'admin', sha256 },
      { name: 'admin', role: 'admin', sha256: createHash('sha256').update(result!).digest('hex') },
    ]);
    expect(shownTo('demo').sort()).toEqual(
      [
        ...demoNodes.map((node) => `creds/agent=${node}.json`),
        'demo/token',
        'keys/datagram.key',
        'muster.yaml',
        'ssh/id_ed25519.pub',
      ].sort(),
    );
    for (const container of Containers)
      for (const file of shownTo(container))
        expect(readFileSync(join(o.shown, container, file), 'utf8')).not.toContain(token);
  });

  it('changes nothing the second time', async () => {
    await install({ ...o, demo: true });
    const before = all();
    expect((await install({ ...o, demo: true })).result).toBeUndefined();
    expect((await install(o)).result).toBeUndefined();
    expect(all()).toEqual(before);
  });

  it('is not made of one that is there, and shows the demo nothing of that', async () => {
    await install(o);
    const before = all();
    await expect(install({ ...o, demo: true })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(all()).toEqual(before);
    expect(existsSync(join(o.shown, 'demo'))).toBe(false);
  });

  it('has as many hosts as docker-compose.yml starts', () => {
    const file = readFileSync(new URL('../../../../docker-compose.yml', import.meta.url), 'utf8');
    const { services } = parse(file, { merge: true }) as { services: { demo: { command: string[] } } };
    expect(services.demo.command).toContain(`--nodes=${DEMO_HOSTS}`);
  });
});

describe('what of the installation a container sees', () => {
  it('is what was made for it, and no other’s', async () => {
    await install(o);
    for (const container of Containers) {
      const files = shownTo(container);
      expect(files.filter((file) => file.startsWith('creds/'))).toEqual(
        container === 'nats' ? [] : [`creds/${container}.json`],
      );
      for (const file of files)
        expect([file, statSync(join(o.shown, container, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(Containers.filter((container) => shownTo(container).some((file) => file.includes('operator')))).toEqual([]);
  });

  it('goes when it is gone', async () => {
    await install(o);
    rmSync(join(o.dir, 'keys', 'revoker.key'));
    await install(o);
    expect(shownTo('inventory')).not.toContain('keys/revoker.key');
  });

  it.each(Containers)('is what its unit of systemd shows it: %s', (container) => {
    const unit = new URL(`../../../../deploy/systemd/muster-control-${container}.service`, import.meta.url);
    const bound = readFileSync(fileURLToPath(unit), 'utf8').matchAll(/^BindReadOnlyPaths=(.*)$/gm);
    const paths = [...bound].flatMap(([, list = '']) =>
      list.split(' ').map((p) => p.replace(/^-?\/etc\/muster\//, '')),
    );
    // The units have muster.yaml from their common part, NATS's too.
    expect(shownFiles[container].filter((file) => file !== 'muster.yaml').sort()).toEqual(paths.sort());
  });
});

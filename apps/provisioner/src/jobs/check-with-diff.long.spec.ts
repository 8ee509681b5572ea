import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, sealMembers, silentLog, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  defaultSettings,
  eventSubject,
  isEndedJob,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
  type PartDiff,
  type ServiceDiff,
} from '#contracts';
import { buildConfig } from '#service';
import { ownAnsibleHost } from '../ansible/own-ansible-host.js';
import { job, node } from '../testing/records.js';
import { startSshd, type TestSshd } from '../testing/sshd.js';
import { whenJob } from '../testing/when-job.js';
import { JobRunner } from './job-runner.js';

/** Muster's own playbooks by real ssh on a host that lives in a folder, carried out by a job runner on a real NATS. */
const playbooks = fileURLToPath(new URL('../../../../playbooks', import.meta.url));
const KEY = '5a'.repeat(32);

const secrets = {
  OLD: 'Tr0ub4dor-and-3',
  NEW: 'correct-horse-battery',
  /** In vars/ of the service: nobody but Ansible knows it. */
  ROLE: 'in-the-roles-own-vars',
  BY_HAND: 'somebody-typed-this-in',
};

let dir: string;
let root: string;
let services: string;
let nats: TestNats;
let bus: Bus;
let sshd: TestSshd;
let end: () => Promise<void>;
let count = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-diff-'));
  [root, services] = [join(dir, 'root'), join(dir, 'services')];
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(join(dir, 'secrets.key'), KEY);
  nats = await startTestNats();
  sshd = await startSshd(dir);
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  await bus.createBuckets();
  await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, defaultSettings('spec'));
  const vars = { ansible_port: sshd.port, ansible_become: false, muster_root: root, muster_agent_managed: false };
  const host = node('n1', { status: 'Allocated', networks: { management: { address: '127.0.0.1' } }, vars });
  await bus.bucket<NodeRecord>('nodes').create('n1', host);
  await service({
    'service.yml': 'groups: {service-worker: server}\n',
    'defaults.yml': 'web_port: 80\ndb_password: ""\n',
    'vars/main.yml': `queue_secret: ${secrets.ROLE}\n`,
    'templates/web.conf.j2': [
      'listen {{ web_port }}',
      'requirepass {{ db_password }}',
      "basic {{ ('user:' ~ db_password) | b64encode }}",
      'queue {{ queue_secret }}',
      'workers 4\n',
    ].join('\n'),
    'files/index.html': '<p>one\n',
    'tasks/site.yml': [
      '- template: {src: web.conf.j2, dest: "{{ muster_root }}/etc/web.conf", mode: "0600"}',
      '- copy: {src: index.html, dest: "{{ muster_root }}/etc/index.html", mode: "0644"}\n',
    ].join('\n'),
    'tasks/check.yml': [
      '- muster_check:',
      '    files:',
      '      - path: "{{ muster_root }}/etc/web.conf"',
      `        content: "{{ lookup('ansible.builtin.template', 'web.conf.j2') | b64encode }}"`,
      '      - path: "{{ muster_root }}/etc/index.html"',
      `        content: "{{ lookup('ansible.builtin.file', 'index.html', rstrip=False) | b64encode }}"\n`,
    ].join('\n'),
    'tasks/cleanup.yml': '- file: {path: "{{ muster_root }}/etc/web.conf", state: absent}\n',
  });
  end = await worker();
}, 120_000);

afterAll(async () => {
  await end?.();
  await bus?.close();
  await Promise.all([nats?.stop(), sshd?.stop()]);
  await rm(dir, { recursive: true, force: true });
});

async function service(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(services, 'web', name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
  }
}

async function worker(): Promise<() => Promise<void>> {
  const config = buildConfig(
    {
      ...{ instance: 'p1', dataDir: dir, nats: { servers: [nats.url] } },
      keys: { secrets: join(dir, 'secrets.key') },
      ansible: { playbooks, services, privateKey: sshd.privateKey, user: userInfo().username },
    },
    undefined,
    'spec',
  );
  const own = await connectBus({ name: config.instance, servers: config.nats.servers });
  const host = ownAnsibleHost(own);
  let selfTest: Promise<string | undefined> | undefined;
  // Asked once: that is a start of Ansible, too.
  const ansible = {
    ...host,
    whyUnfit: (...asked: Parameters<typeof host.whyUnfit>) => (selfTest ??= host.whyUnfit(...asked)),
  };
  const displaced = (): void => undefined;
  const runner = new JobRunner({ bus: own, config, log: silentLog, host: 'control-1', ansible, displaced });
  await runner.start();
  return async () => {
    await runner.stop();
    await own.close();
  };
}

/** A job on the node with this password, as inventory stores it: sealed. */
async function run(kind: JobRecord['kind'], password: string, more: Partial<JobRecord> = {}): Promise<JobRecord> {
  const id = `job-${++count}`;
  const extraVars = sealMembers(Buffer.from(KEY, 'hex'), { db_password: password });
  await bus.bucket<JobRecord>('jobs').create(id, job(id, { kind, nodes: ['n1'], extraVars, ...more }));
  return whenJob(bus, id, isEndedJob);
}

async function set(up: 'commission' | 'maintenance', password: string): Promise<void> {
  const done = await run(up, password, { hostGroup: 'service-worker' });
  expect([done.status, done.error]).toEqual(['Complete', '']);
}

async function differences(password: string): Promise<ServiceDiff | undefined> {
  const before = await fingerprint();
  const { status, error, results } = await run('check', password, { diff: true });
  expect([status, error]).toEqual(['Complete', '']);
  expect(await fingerprint()).toEqual(before);
  return results['n1']?.diff?.services.find((s) => s.service === 'web');
}
const named = (d: ServiceDiff | undefined): Record<string, PartDiff> =>
  Object.fromEntries((d?.parts ?? []).map((p) => [`${p.kind} ${p.name.replace(root, '')}`, p]));

/** Everything about every file of the host. */
async function fingerprint(): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const s = await stat(path);
    const hash = entry.isFile()
      ? createHash('sha256')
          .update(await readFile(path))
          .digest('hex')
      : '';
    all[path.replace(root, '')] = `${s.mode} ${s.ctimeMs} ${s.mtimeMs} ${hash}`;
  }
  return all;
}

/** All that NATS has stored: logs of jobs, records and events, as they lie on its disk. */
async function stored(): Promise<string> {
  const texts: string[] = [];
  for (const entry of await readdir(join(nats.dir, 'js'), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) texts.push(await readFile(join(entry.parentPath, entry.name), 'latin1'));
  return texts.join('\n');
}

/** A secret as it is, and what of its base64 is the same wherever it stands. */
const forms = (secret: string): string[] => [
  secret,
  ...[0, 1, 2].map((n) =>
    Buffer.from(`${' '.repeat(n)}${secret}`)
      .toString('base64')
      .slice(4, -4),
  ),
];

const record = (): string => join(root, 'var/lib/muster/services/web.json');

describe('a check that shall say what differs', () => {
  it('says that all is the same after a set-up, of which the node keeps no secret in clear', async () => {
    await set('commission', secrets.OLD);
    expect(named(await differences(secrets.OLD))).toEqual({});
    expect((await stat(record())).mode & 0o777).toBe(0o600);
    expect((await stat(join(record(), '..'))).mode & 0o777).toBe(0o700);
    const kept = await readFile(record(), 'utf8');
    for (const secret of Object.values(secrets)) for (const form of forms(secret)) expect(kept).not.toContain(form);
  }, 120_000);

  it('comes after a second set-up that changed nothing, neither the record that the node keeps', async () => {
    const before = await fingerprint();
    const { results } = await run('commission', secrets.OLD, { hostGroup: 'service-worker' });
    expect(results['n1']).toMatchObject({ ok: true, changed: 0 });
    expect(await fingerprint()).toEqual(before);
    const kept = await readFile(record(), 'utf8');
    await set('maintenance', secrets.OLD);
    expect(await readFile(record(), 'utf8')).toBe(kept);
  }, 120_000);

  it('names each part that was changed since, and what stands there, line by line, and nothing of a secret', async () => {
    await service({
      'service.yml': 'groups: {service-worker: server}\nversion: 2\n',
      'defaults.yml': 'web_port: 8080\ndb_password: ""\n',
      'files/index.html': '<p>two\n',
    });
    const conf = join(root, 'etc/web.conf');
    const there = await readFile(conf, 'utf8');
    await writeFile(conf, there.replace(secrets.OLD, secrets.BY_HAND).replace('workers 4', 'workers 9'));
    const d = named(await differences(secrets.NEW));
    expect(Object.keys(d)).toEqual([
      'setting version',
      'variable db_password',
      'variable web_port',
      'template web.conf.j2',
      'file index.html',
      'standing /etc/web.conf',
      'standing /etc/index.html',
    ]);
    expect(d['setting version']?.lines).toEqual(['-1', '+2']);
    expect(d['variable db_password']).toMatchObject({ lines: ['-***', '+***'], note: 'differs in what is hidden' });
    expect(d['variable web_port']?.lines).toEqual(['-80', '+8080']);
    expect(d['template web.conf.j2']?.lines).toEqual([
      '@@ -1,5 +1,5 @@',
      '-listen 80',
      '-***',
      expect.stringMatching(/^-basic [\w+/=]{0,12}\*{8}[\w+/=]{0,4}$/),
      '+listen 8080',
      '+***',
      expect.stringMatching(/^\+basic [\w+/=]{0,12}\*{8}[\w+/=]{0,4}$/),
      ' queue ********',
      ' workers 4',
    ]);
    expect(d['file index.html']?.lines).toEqual(['@@ -1 +1 @@', '-<p>one', '+<p>two']);
    expect(d['standing /etc/web.conf']?.lines.slice(0, 4)).toEqual([
      ...['@@ -1,5 +1,5 @@', '-listen 80', '-***', expect.stringMatching(/^-basic [\w+/=]{0,12}\*{8}[\w+/=]{0,4}$/)],
    ]);
    expect(d['standing /etc/web.conf']?.lines).toContain('+workers 4');

    const all = await stored();
    expect(all).toContain('queue ********');
    for (const secret of Object.values(secrets)) for (const form of forms(secret)) expect(all).not.toContain(form);
  }, 120_000);

  it('and only such a one carries it, and no event does', async () => {
    const { results } = await run('check', secrets.NEW);
    expect(results['n1']?.check?.findings).toMatchObject([{ service: 'web', result: 'drift' }]);
    expect(results['n1']?.diff).toBeUndefined();
    const events: unknown[] = [];
    for (const { value } of (
      await bus.readOn([eventSubject('job-node', '*')], { after: 0, count: 100, timeoutMs: 5_000 })
    ).items)
      events.push(value);
    expect(JSON.stringify(events)).toContain('"findings"');
    expect(JSON.stringify(events)).not.toContain('"diff"');
  }, 120_000);

  it('says what it cannot know: what is kept is damaged, or gone with a cleanup', async () => {
    await set('maintenance', secrets.NEW);
    const kept = await readFile(record(), 'utf8');
    await writeFile(record(), kept.replace(/"sealed": ".{8}/, '"sealed": "AAAAAAAA'));
    expect((await differences(secrets.NEW))?.unknown).toMatch(/damaged, or sealed with another key$/);
    const { status } = await run('decommission', secrets.NEW);
    expect(status).toBe('Complete');
    expect(Object.keys(await fingerprint()).filter((path) => path.includes('services'))).toEqual([]);
    expect((await differences(secrets.NEW))?.unknown).toBe(
      'what was set up last is not known: nothing of it is kept on the node',
    );
  }, 120_000);
});

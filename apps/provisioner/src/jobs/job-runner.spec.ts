import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectBus, sealMembers, silentLog, type Bus } from '#bus';
import { connectionOf } from '#bus/testing/connection-of.js';
import { daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { processesWith } from '#bus/testing/processes.js';
import {
  defaultSettings,
  isEndedJob,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import { runs as timesFactor } from '#contracts/testing/chance.js';
import { quickest } from '#contracts/testing/quickest.js';
import { buildConfig, ownSeal, type ServiceConfig } from '#service';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import { ownAnsibleHost } from '../ansible/own-ansible-host.js';
import { testPlaybooks, type TestPlaybooks } from '../testing/playbooks.js';
import { job, node } from '../testing/records.js';
import { JobRunner } from './job-runner.js';

let nats: TestNats;
let bus: Bus;
let playbooks: TestPlaybooks;
let dataDir: string;
let running: { close(): Promise<void> }[] = [];
let count = 0;
/** Seals secrets of settings and jobs. */
const KEY = '22'.repeat(32);

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  await bus.createBuckets();
  await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, defaultSettings('spec'));
  for (const name of ['n1', 'n2', 'n3'])
    await bus.bucket<NodeRecord>('nodes').create(name, node(name, { status: 'Provisioning' }));
  dataDir = await mkdtemp(join(tmpdir(), 'muster-prov-'));
  await writeFile(join(dataDir, 'secrets.key'), KEY);
});
afterAll(async () => {
  await bus.close();
  await nats.stop();
  await rm(dataDir, { recursive: true, force: true });
});
beforeEach(async () => {
  playbooks = await testPlaybooks();
});
afterEach(async () => {
  await Promise.all(running.map((r) => r.close()));
  running = [];
  await playbooks.remove();
});

/** A process of its own, with the built guard. */
const provisionerMain = fileURLToPath(new URL('../../../../dist/apps/provisioner/src/main.js', import.meta.url));
async function configFile(instance: string): Promise<string> {
  const file = join(dataDir, `${instance}.json`);
  const ansible = { playbooks: playbooks.dir, extraVars: { ansible_connection: 'local' } };
  await writeFile(file, JSON.stringify({ instance, credentials: 'none', nats: { servers: [nats.url] }, ansible }));
  return file;
}

const configOf = (instance: string): ServiceConfig =>
  buildConfig(
    {
      instance,
      dataDir,
      keys: { secrets: join(dataDir, 'secrets.key') },
      nats: { servers: [nats.url] },
      ansible: { playbooks: playbooks.dir, extraVars: { ansible_connection: 'local' } },
    },
    undefined,
    'spec',
  );

interface Worker {
  bus: Bus;
  close(): Promise<void>;
}

let selfTest: Promise<string | undefined> | undefined;
/** This machine. Whether its Ansible works is asked once: that is a start of it, too. */
function thisMachine(own: Bus): AnsibleHost {
  const host = ownAnsibleHost(own);
  return { ...host, trouble: (config, settings) => (selfTest ??= host.trouble(config, settings)) };
}

async function worker(): Promise<Worker> {
  const config = configOf(`p${++count}`);
  const own = await connectBus({ name: config.instance, servers: config.nats.servers });
  const displaced = (): void => undefined;
  const ansible = thisMachine(own);
  const runner = new JobRunner({ bus: own, config, log: silentLog, host: 'control-1', ansible, displaced });
  await runner.start();
  let closed = false;
  const it = {
    bus: own,
    close: async () => {
      if (closed) return;
      closed = true;
      await runner.stop();
      await own.close();
    },
  };
  running.push(it);
  return it;
}

const submit = async (more: Partial<JobRecord> = {}): Promise<string> => {
  const id = `job-${++count}`;
  await bus.bucket<JobRecord>('jobs').create(id, job(id, more));
  return id;
};

/** The record as soon as it fits. */
async function when(id: string, fits: (j: JobRecord) => boolean): Promise<JobRecord> {
  const view = await bus.bucket<JobRecord>('jobs').view();
  try {
    return await new Promise((resolve) => {
      const look = (): void => {
        const value = view.get(id)?.value;
        if (value !== undefined && fits(value)) resolve(value);
      };
      view.onChange(look);
      look();
    });
  } finally {
    await view.close();
  }
}
const ended = (id: string): Promise<JobRecord> => when(id, isEndedJob);

async function logOf(id: string): Promise<string> {
  let text = '';
  for await (const chunk of bus.readLog(id, { follow: true })) text += chunk.text;
  return text;
}

/** Until Ansible has come as far as to run this. */
async function runs(command: string): Promise<void> {
  while (processesWith(command).length === 0) await pause(50);
}

describe('the job runner', () => {
  it('carries a commission out, with results, checksum, log and its end', async () => {
    await playbooks.set('site', [
      'command: echo hello {{ muster_role }} of {{ muster_host_group }}',
      'set_stats: {per_host: true, data: {muster: {checksum: "c-{{ inventory_hostname }}"}}}',
    ]);
    await worker();
    const id = await submit({
      nodes: ['n1', 'n2'],
      hostGroup: 'service-master',
      extraVars: { db_password: 'hidden-1' },
    });
    const record = await ended(id);
    expect(record).toMatchObject({ status: 'Complete', error: '', generation: 1, task: 'site' });
    expect(record.results['n1']).toMatchObject({ ok: true, step: 'site', changed: 1, checksum: 'c-n1' });
    expect(record.results['n2']).toMatchObject({ ok: true, checksum: 'c-n2' });
    const log = await logOf(id);
    expect(log).toContain('[muster] site on n1, n2');
    expect(log).toContain('PLAY RECAP');
    expect(processesWith(`muster-run-${process.pid}`)).toEqual([]);
  });

  it('cleans up every node of a commission that failed on one, and names the task and why', async () => {
    const trace = join(dataDir, `trace-${++count}`);
    await playbooks.set('site', [
      '{name: Put it there, command: "sh -c \'echo no room >&2; exit 3\'", when: inventory_hostname == "n2"}',
    ]);
    await playbooks.set('cleanup', [`shell: echo {{ inventory_hostname }} >> ${trace}`]);
    await worker();
    const record = await ended(await submit({ nodes: ['n1', 'n2', 'n3'] }));
    expect(record).toMatchObject({
      status: 'Errored',
      results: {
        n1: { ok: false, message: 'cleaned up: site failed on n2' },
        n2: { ok: false, step: 'site', failedTask: 'Put it there' },
      },
    });
    expect(record.error).toMatch(/^site failed on n2 \(task "Put it there": .*no room/);
    expect((await readFile(trace, 'utf8')).trim().split('\n').sort()).toEqual(['n1', 'n2', 'n3']);
  });

  it('masks secrets in log and messages', async () => {
    await playbooks.set('site', ['fail: msg="password of {{ db_password | length }} is {{ db_password }}"']);
    await worker();
    const key = Buffer.from(KEY, 'hex');
    // As inventory stores them.
    const id = await submit({ extraVars: sealMembers(key, { db_password: 'tr0ub4dor' }) });
    const record = await ended(id);
    expect(record.results['n1']?.message).toBe('password of 9 is ********');
    expect(JSON.stringify(record.results)).not.toContain('tr0ub4dor');
    expect(await logOf(id)).not.toContain('tr0ub4dor');
  });

  /** As inventory stores it, by a key. */
  async function setVars(name: string, vars: Record<string, unknown>, key = KEY): Promise<void> {
    const seal = ownSeal(() => Buffer.from(key, 'hex'));
    const inventory = await connectBus({ name: 'inventory', servers: [nats.url], seal });
    const nodes = inventory.bucket<NodeRecord>('nodes');
    // Also over one that another key has sealed.
    await nodes.mutate(name, () => node(name, { status: 'Provisioning', vars }), { overUnreadable: true });
    await inventory.close();
  }

  it('gives Ansible the variables of nodes as they were before they were sealed, and masks them', async () => {
    const trace = join(dataDir, `trace-${++count}`);
    const vars = { db_pwd: 'n1-s3cret', peer: { url: 'redis://:n1-hidden@h' } };
    await setVars('n1', vars);
    expect(JSON.stringify(await bus.bucket('nodes').get('n1'))).toMatch(/muster-sealed(?!.*(s3cret|hidden))/);
    await playbooks.set('site', [
      `shell: echo {{ db_pwd }} {{ peer.url }} >> ${trace}`,
      'debug: msg="it is {{ db_pwd }}, {{ peer.url }}"',
    ]);
    await worker();
    const id = await submit();
    expect(await ended(id)).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('n1-s3cret redis://:n1-hidden@h\n');
    expect(await logOf(id)).not.toMatch(/n1-s3cret|n1-hidden|muster-sealed/);

    await setVars('n2', vars, '33'.repeat(32));
    const refused = await ended(await submit());
    expect(refused).toMatchObject({ status: 'Errored' });
    expect(refused.error).toMatch(/variables of node n2: a sealed secret cannot be opened with this secrets key/);
    expect(refused.startedAt).toBeUndefined();
    expect((await readFile(trace, 'utf8')).split('\n')).toHaveLength(2);
    for (const name of ['n1', 'n2']) await setVars(name, {});
  });

  it('ends Ansible and its children within 2 s of a cancel, also what runs on the node, then treats it as a failure', async () => {
    const child = `7${Date.now()}`;
    const onTheNode = `6${Date.now()}`;
    const run = '{MUSTER_JOB: "{{ muster_job }}", MUSTER_RUN: "{{ muster_run }}"}';
    await playbooks.set('site', [
      // In a session of its own: as out of Ansible's reach as the other end of an ssh connection.
      `{shell: setsid sleep ${onTheNode} >/dev/null 2>&1 &, environment: ${run}}`,
      `command: sleep ${child}`,
    ]);
    await worker();
    const took = await quickest(2_000, async () => {
      const id = await submit();
      await runs(`sleep ${child}`);
      expect(processesWith(`sleep ${onTheNode}`)).toHaveLength(1);
      const at = performance.now();
      await bus.bucket<JobRecord>('jobs').mutate(id, (e) => e && { ...e.value, cancel: { by: 'ann', at: 0 } });
      while (processesWith(`sleep ${child}`).length > 0) await pause(10);
      const ms = performance.now() - at;
      await when(id, (j) => j.task === 'cleanup');
      expect(processesWith(`sleep ${onTheNode}`)).toEqual([]);
      expect(await ended(id)).toMatchObject({ status: 'Errored', error: 'cancelled by ann' });
      return ms;
    });
    expect(took).toBeLessThan(2_000);
  });

  it('ends a job that takes longer than it may as after a cancel, within 2 s', async () => {
    const child = `5${Date.now()}`;
    await playbooks.set('site', [`command: sleep ${child}`]);
    await worker();
    let seconds = 2;
    const late = await quickest(2_000, async () => {
      // Ansible must have begun its task by then, also where it is slow.
      seconds *= 2;
      const id = await submit({ timeoutMs: seconds * 1000 });
      await when(id, (j) => j.status === 'Running');
      const due = performance.now() + seconds * 1000;
      while (processesWith(`sleep ${child}`).length === 0 && performance.now() < due) await pause(50);
      const begun = processesWith(`sleep ${child}`).length === 1;
      while (processesWith(`sleep ${child}`).length > 0) await pause(10);
      const ms = performance.now() - due;
      const why = `timed out after ${seconds} s`;
      expect(await ended(id)).toMatchObject({
        status: 'Errored',
        error: why,
        task: 'cleanup',
        results: { n1: { ok: false, message: why } },
      });
      return begun ? ms : Infinity;
    });
    expect(late).toBeLessThan(2_000);
  });

  it('tells how far it is on each node while it runs, and no more when it has ended', async () => {
    const go = join(dataDir, `go-${++count}`);
    await playbooks.set('site', [
      '{name: First, command: "true"}',
      `{name: "Use {{ db_password }}", wait_for: {path: ${go}, timeout: 20}}`,
    ]);
    await worker();
    const id = await submit({ nodes: ['n1', 'n2'], extraVars: { db_password: 'hidden-2' } });
    const running = await when(id, (j) => j.progress?.['n2']?.done === 1 && j.progress['n1']?.done === 1);
    const far = { step: 'site', task: 'Use {{ db_password }}', done: 1, failed: false };
    expect(running.progress).toEqual({ n1: far, n2: far });
    // Variables and inventory lie in files that nobody else may read, and only while they are needed.
    const folder = (await readdir(tmpdir())).find((name) => name.startsWith(`muster-run-${process.pid}-`)) ?? '';
    for (const file of ['vars.yml', 'inventory.yml', 'known_hosts'])
      expect((await stat(join(tmpdir(), folder, file))).mode & 0o777).toBe(0o600);
    expect(processesWith('hidden-2')).toEqual([]);
    await writeFile(go, '');
    const record = await ended(id);
    expect(record).toMatchObject({ status: 'Complete', results: { n2: { ok: true } } });
    expect(record.progress).toBeUndefined();
    await expect(stat(join(tmpdir(), folder))).rejects.toThrow('ENOENT');
  });

  it('goes by the settings as they are when it begins, and begins nothing without all that it may need', async () => {
    const trace = join(dataDir, `trace-${++count}`);
    const set = (ansible: ClusterSettings['ansible'], globals = {}) =>
      bus
        .bucket<ClusterSettings>('settings')
        .mutate(SETTINGS_KEY, (now) => ({ ...(now?.value ?? defaultSettings('spec')), ansible, globals }));
    await playbooks.set('site', [`shell: echo {{ a }} {{ b }} {{ c }} >> ${trace}`]);
    await worker();
    await set({ extraVars: { a: 's', b: 's', c: 's' } }, { b: 'g', c: 'g' });
    expect(await ended(await submit({ extraVars: { c: 'r' } }))).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('s g r\n');

    await set({ playbooks: '/nowhere/playbooks' });
    const nowhere = await ended(await submit({ nodes: ['n1', 'n2'] }));
    expect(nowhere).toMatchObject({ status: 'Errored', results: { n2: { ok: false } } });
    expect(nowhere.error).toMatch(/the folder of playbooks \/nowhere\/playbooks does not exist: nothing was run/);
    expect(nowhere.startedAt).toBeUndefined();

    await set({});
    await unlink(join(playbooks.dir, 'cleanup.yml'));
    expect((await ended(await submit())).error).toContain('cleanup.yml does not exist: nothing was run');
    expect(await readFile(trace, 'utf8')).toBe('s g r\n');
  });

  it('runs nothing on a node with services of a folder that is not there', async () => {
    const trace = join(dataDir, `trace-${++count}`);
    await playbooks.set('site', [`shell: echo ran >> ${trace}`]);
    await worker();
    const look = (services: NonNullable<NodeRecord['findings']>['services']) =>
      bus
        .bucket<NodeRecord>('nodes')
        .mutate('n1', (now) => ({ ...(now?.value as NodeRecord), findings: { at: 1, job: 'j', services } }));
    const ok = { result: 'ok', why: '', since: 1 } as const;
    await look({ agent: ok, web: { ...ok, version: '1', mode: 'server' } });
    const refused = await ended(await submit());
    expect(refused).toMatchObject({ status: 'Errored' });
    expect(refused.error).toMatch(/names no folder, and n1 has web from one: nothing was run/);
    await look({ agent: ok });
    expect(await ended(await submit())).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('ran\n');
  });

  it('asks before each start, starts what it may, and says why of the rest', async () => {
    await playbooks.set('recover', [
      "set_stats: {per_host: true, data: {muster: {workloads: \"{{ dict(muster_recover | map(attribute='workload') | zip([{'started': true, 'reason': ''}] * 9)) }}\"}}}",
    ]);
    const answers = bus.answer<{ data: { workload: string } }, unknown>(
      'muster.rpc.inventory.workloads.mayStart',
      (q) => ({
        response: { allowed: q.data.workload === 'web', reason: q.data.workload === 'web' ? '' : 'seen running on n2' },
        isDisposed: true,
      }),
    );
    await worker();
    const task = (workload: string) => ({ workload, generation: 3, driver: 'ansible', spec: { exec: '/bin/true' } });
    const id = await submit({ kind: 'recover', recover: [task('db'), task('web')] });
    const record = await ended(id);
    expect(record.results['n1']).toMatchObject({
      ok: false,
      workloads: { db: { started: false, reason: 'seen running on n2' }, web: { started: true } },
    });
    await answers.close();
  });

  it('starts workloads by their specs as they were before they were sealed, and leaves them sealed in the record', async () => {
    const trace = join(dataDir, `trace-${++count}`);
    await playbooks.set('recover', [
      `shell: echo {{ muster_recover[0].spec.environment.DB_PWD }} >> ${trace}`,
      'debug: msg="{{ muster_recover[0].spec.environment.DB_PWD }}"',
    ]);
    const answers = bus.answer('muster.rpc.inventory.workloads.mayStart', () => ({
      response: { allowed: true, reason: '' },
      isDisposed: true,
    }));
    const seal = ownSeal(() => Buffer.from(KEY, 'hex'));
    const inventory = await connectBus({ name: 'inventory', servers: [nats.url], seal });
    await worker();
    const spec = { unit: 'db.service', environment: { DB_PWD: 'spec-s3cret' } };
    const id = `job-${++count}`;
    const task = { workload: 'db', generation: 3, driver: 'ansible', spec };
    await inventory.bucket<JobRecord>('jobs').create(id, job(id, { kind: 'recover', recover: [task] }));
    const record = await ended(id);
    expect(await readFile(trace, 'utf8')).toBe('spec-s3cret\n');
    expect(record).toMatchObject({ status: 'Complete', schema: 2 });
    expect(JSON.stringify(record)).not.toContain('spec-s3cret');
    expect((await inventory.bucket<JobRecord>('jobs').get(id))?.value.recover).toMatchObject([task]);
    expect(await logOf(id)).not.toMatch(/spec-s3cret|muster-sealed/);
    await inventory.close();
    await answers.close();
  });

  it('lets another finish the job of a worker that is gone, and never runs Ansible twice at once', async () => {
    const lock = join(dataDir, `lock-${++count}`);
    const marker = `8${Date.now()}`;
    // Held by the kernel for as long as any process of the run lives: a second one that comes too early fails.
    await playbooks.set('site', [
      `command: "flock -n ${lock} sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const first = await worker();
    const id = await submit();
    await when(id, (j) => j.status === 'Running');
    await runs(`sleep ${marker}`);
    const second = await worker();
    // The first loses NATS without a word: its lease runs out, and its guard ends what it had started.
    await connectionOf(first.bus).close();
    const record = await ended(id);
    expect(record).toMatchObject({ status: 'Complete', generation: 2, worker: second.bus.name });
    expect(processesWith(`sleep ${marker}`)).toEqual([]);
  });

  it('finishes the job of a provisioner that was killed in the middle, whose Ansible dies with it', async () => {
    const lock = join(dataDir, `lock-${++count}`);
    const marker = `4${Date.now()}`;
    await playbooks.set('site', [
      `command: "flock -n ${lock} sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const name = `victim-${++count}`;
    const victim = daemon(process.execPath, [provisionerMain], {
      env: { PATH: process.env['PATH'], MUSTER_CONFIG: await configFile(name) },
      stdio: 'ignore',
    });
    const id = await submit();
    await runs(`sleep ${marker}`);
    const second = await worker();
    victim.kill('SIGKILL');
    // Long before another may take the job: `flock` would tell, too.
    const at = performance.now();
    while (processesWith(`sleep ${marker}`).length > 0) await pause(10);
    expect(performance.now() - at).toBeLessThan(4_000);
    expect(await when(id, () => true)).toMatchObject({ worker: name, generation: 1, status: 'Running' });
    expect(await ended(id)).toMatchObject({ status: 'Complete', generation: 2, worker: second.bus.name });
  });

  it('hands its jobs on when it is stopped in the middle', async () => {
    const marker = `9${Date.now()}`;
    await playbooks.set('site', [
      `command: "sh -c 'test {{ muster_run }} != {{ muster_job }}.1.0 || sleep ${marker}'"`,
    ]);
    const first = await worker();
    const id = await submit();
    await runs(`sleep ${marker}`);
    await worker();
    await first.close();
    expect(processesWith(`sleep ${marker}`)).toEqual([]);
    expect(await ended(id)).toMatchObject({ status: 'Complete', generation: 2 });
  });

  const LINES = timesFactor(5_000);
  it(`writes ${LINES} lines and one of a megabyte into the log, whole, also past a reader that never reads`, async () => {
    await playbooks.set('site', [
      `{name: Talk, debug: {msg: "{{ range(${LINES}) | list }}"}}`,
      `{name: Shout, debug: {msg: "{{ 'x' * 1000000 }}"}}`,
    ]);
    await worker();
    const run = async (): Promise<JobRecord> => {
      const id = await submit();
      // Takes one piece, and never another.
      const idle = bus.readLog(id, { follow: true })[Symbol.asyncIterator]();
      await idle.next();
      const record = await ended(id);
      await idle.return?.();
      return record;
    };
    let record = await run();
    // A worker that stands still for want of CPU rightly loses its job, and runs it again: then its log is that of two.
    for (let more = 2; record.generation > 1 && more > 0; more--) record = await run();
    expect(record).toMatchObject({ status: 'Complete', generation: 1 });
    const log = await logOf(record.id);
    expect(log.match(/^\s+\d+,?$/gm)).toHaveLength(LINES);
    expect(log).toContain('x'.repeat(1_000_000));
  });
});

import { readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectBus, sealMembers } from '#bus';
import { processesWith } from '#bus/testing/processes.js';
import { defaultSettings, SETTINGS_KEY, type ClusterSettings, type JobRecord, type NodeRecord } from '#contracts';
import { ownSeal } from '#service';
import { jobBench, KEY } from '../testing/job-bench.js';
import { job, node } from '../testing/records.js';

const bench = jobBench();

describe('the job runner', () => {
  it('carries a commission out, with results, checksum, log and its end', async () => {
    await bench.playbooks.set('site', [
      'command: echo hello {{ muster_role }} of {{ muster_host_group }}',
      'set_stats: {per_host: true, data: {muster: {checksum: "c-{{ inventory_hostname }}"}}}',
    ]);
    await bench.worker();
    const id = await bench.submit({
      nodes: ['n1', 'n2'],
      hostGroup: 'service-master',
      extraVars: { db_password: 'hidden-1' },
    });
    const record = await bench.ended(id);
    expect(record).toMatchObject({ status: 'Complete', error: '', generation: 1, task: 'site' });
    expect(record.results['n1']).toMatchObject({ ok: true, step: 'site', changed: 1, checksum: 'c-n1' });
    expect(record.results['n2']).toMatchObject({ ok: true, checksum: 'c-n2' });
    const log = await bench.logOf(id);
    expect(log).toContain('[muster] site on n1, n2');
    expect(log).toContain('PLAY RECAP');
    expect(processesWith(`muster-run-${process.pid}`)).toEqual([]);
  });

  it('cleans up every node of a commission that failed on one, and names the task and why', async () => {
    const trace = join(bench.dataDir, `trace-${bench.next()}`);
    await bench.playbooks.set('site', [
      '{name: Put it there, command: "sh -c \'echo no room >&2; exit 3\'", when: inventory_hostname == "n2"}',
    ]);
    await bench.playbooks.set('cleanup', [`shell: echo {{ inventory_hostname }} >> ${trace}`]);
    await bench.worker();
    const record = await bench.ended(await bench.submit({ nodes: ['n1', 'n2', 'n3'] }));
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
    await bench.playbooks.set('site', ['fail: msg="password of {{ db_password | length }} is {{ db_password }}"']);
    await bench.worker();
    const key = Buffer.from(KEY, 'hex');
    // As inventory stores them.
    const id = await bench.submit({ extraVars: sealMembers(key, { db_password: 'tr0ub4dor' }) });
    const record = await bench.ended(id);
    expect(record.results['n1']?.message).toBe('password of 9 is ********');
    expect(JSON.stringify(record.results)).not.toContain('tr0ub4dor');
    expect(await bench.logOf(id)).not.toContain('tr0ub4dor');
  });

  /** As inventory stores it, by a key. */
  async function setVars(name: string, vars: Record<string, unknown>, key = KEY): Promise<void> {
    const seal = ownSeal(() => Buffer.from(key, 'hex'));
    const inventory = await connectBus({ name: 'inventory', servers: [bench.nats.url], seal });
    const nodes = inventory.bucket<NodeRecord>('nodes');
    // Also over one that another key has sealed.
    await nodes.mutate(name, () => node(name, { status: 'Provisioning', vars }), { overUnreadable: true });
    await inventory.close();
  }

  it('gives Ansible the variables of nodes as they were before they were sealed, and masks them', async () => {
    const trace = join(bench.dataDir, `trace-${bench.next()}`);
    const vars = { db_pwd: 'n1-s3cret', peer: { url: 'redis://:n1-hidden@h' } };
    await setVars('n1', vars);
    expect(JSON.stringify(await bench.bus.bucket('nodes').get('n1'))).toMatch(/muster-sealed(?!.*(s3cret|hidden))/);
    await bench.playbooks.set('site', [
      `shell: echo {{ db_pwd }} {{ peer.url }} >> ${trace}`,
      'debug: msg="it is {{ db_pwd }}, {{ peer.url }}"',
    ]);
    await bench.worker();
    const id = await bench.submit();
    expect(await bench.ended(id)).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('n1-s3cret redis://:n1-hidden@h\n');
    expect(await bench.logOf(id)).not.toMatch(/n1-s3cret|n1-hidden|muster-sealed/);

    await setVars('n2', vars, '33'.repeat(32));
    const refused = await bench.ended(await bench.submit());
    expect(refused).toMatchObject({ status: 'Errored' });
    expect(refused.error).toMatch(/variables of node n2: a sealed secret cannot be opened with this secrets key/);
    expect(refused.startedAt).toBeUndefined();
    expect((await readFile(trace, 'utf8')).split('\n')).toHaveLength(2);
    for (const name of ['n1', 'n2']) await setVars(name, {});
  });

  it('tells how far it is on each node while it runs, and no more when it has ended', async () => {
    const go = join(bench.dataDir, `go-${bench.next()}`);
    await bench.playbooks.set('site', [
      '{name: First, command: "true"}',
      `{name: "Use {{ db_password }}", wait_for: {path: ${go}, timeout: 20}}`,
    ]);
    await bench.worker();
    const id = await bench.submit({ nodes: ['n1', 'n2'], extraVars: { db_password: 'hidden-2' } });
    // One task is done a little before the next one is begun.
    const isAtSecond = (j: JobRecord, node: string): boolean => j.progress?.[node]?.task.startsWith('Use') === true;
    const running = await bench.when(id, (j) => isAtSecond(j, 'n1') && isAtSecond(j, 'n2'));
    const far = { step: 'site', task: 'Use {{ db_password }}', done: 1, failed: false };
    expect(running.progress).toEqual({ n1: far, n2: far });
    // Variables and inventory lie in files that nobody else may read, and only while they are needed.
    const folder = (await readdir(tmpdir())).find((name) => name.startsWith(`muster-run-${process.pid}-`)) ?? '';
    for (const file of ['vars.yml', 'inventory.yml', 'known_hosts'])
      expect((await stat(join(tmpdir(), folder, file))).mode & 0o777).toBe(0o600);
    expect(processesWith('hidden-2')).toEqual([]);
    await writeFile(go, '');
    const record = await bench.ended(id);
    expect(record).toMatchObject({ status: 'Complete', results: { n2: { ok: true } } });
    expect(record.progress).toBeUndefined();
    await expect(stat(join(tmpdir(), folder))).rejects.toThrow('ENOENT');
  });

  it('goes by the settings as they are when it begins, and begins nothing without all that it may need', async () => {
    const trace = join(bench.dataDir, `trace-${bench.next()}`);
    const set = (ansible: ClusterSettings['ansible'], globals = {}) =>
      bench.bus
        .bucket<ClusterSettings>('settings')
        .mutate(SETTINGS_KEY, (now) => ({ ...(now?.value ?? defaultSettings('spec')), ansible, globals }));
    await bench.playbooks.set('site', [`shell: echo {{ a }} {{ b }} {{ c }} >> ${trace}`]);
    await bench.worker();
    await set({ extraVars: { a: 's', b: 's', c: 's' } }, { b: 'g', c: 'g' });
    expect(await bench.ended(await bench.submit({ extraVars: { c: 'r' } }))).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('s g r\n');

    await set({ playbooks: '/nowhere/playbooks' });
    const nowhere = await bench.ended(await bench.submit({ nodes: ['n1', 'n2'] }));
    expect(nowhere).toMatchObject({ status: 'Errored', results: { n2: { ok: false } } });
    expect(nowhere.error).toMatch(/the folder of playbooks \/nowhere\/playbooks does not exist: nothing was run/);
    expect(nowhere.startedAt).toBeUndefined();

    await set({});
    await unlink(join(bench.playbooks.dir, 'cleanup.yml'));
    expect((await bench.ended(await bench.submit())).error).toContain('cleanup.yml does not exist: nothing was run');
    expect(await readFile(trace, 'utf8')).toBe('s g r\n');
  });

  it('runs nothing on a node with services of a folder that is not there', async () => {
    const trace = join(bench.dataDir, `trace-${bench.next()}`);
    await bench.playbooks.set('site', [`shell: echo ran >> ${trace}`]);
    await bench.worker();
    const look = (services: NonNullable<NodeRecord['findings']>['services']) =>
      bench.bus
        .bucket<NodeRecord>('nodes')
        .mutate('n1', (now) => ({ ...(now?.value as NodeRecord), findings: { at: 1, job: 'j', services } }));
    const ok = { result: 'ok', why: '', since: 1 } as const;
    await look({ agent: ok, web: { ...ok, version: '1', mode: 'server' } });
    const refused = await bench.ended(await bench.submit());
    expect(refused).toMatchObject({ status: 'Errored' });
    expect(refused.error).toMatch(/names no folder, and n1 has web from one: nothing was run/);
    await look({ agent: ok });
    expect(await bench.ended(await bench.submit())).toMatchObject({ status: 'Complete' });
    expect(await readFile(trace, 'utf8')).toBe('ran\n');
  });

  it('asks before each start, starts what it may, and says why of the rest', async () => {
    await bench.playbooks.set('recover', [
      "set_stats: {per_host: true, data: {muster: {workloads: \"{{ dict(muster_recover | map(attribute='workload') | zip([{'started': true, 'reason': ''}] * 9)) }}\"}}}",
    ]);
    const answers = bench.bus.answer<{ data: { workload: string } }, unknown>(
      'muster.rpc.inventory.workloads.mayStart',
      (q) => ({
        response: { allowed: q.data.workload === 'web', reason: q.data.workload === 'web' ? '' : 'seen running on n2' },
        isDisposed: true,
      }),
    );
    await bench.worker();
    const task = (workload: string) => ({ workload, generation: 3, driver: 'ansible', spec: { exec: '/bin/true' } });
    const id = await bench.submit({ kind: 'recover', recover: [task('db'), task('web')] });
    const record = await bench.ended(id);
    expect(record.results['n1']).toMatchObject({
      ok: false,
      workloads: { db: { started: false, reason: 'seen running on n2' }, web: { started: true } },
    });
    await answers.close();
  });

  it('starts workloads by their specs as they were before they were sealed, and leaves them sealed in the record', async () => {
    const trace = join(bench.dataDir, `trace-${bench.next()}`);
    await bench.playbooks.set('recover', [
      `shell: echo {{ muster_recover[0].spec.environment.DB_PWD }} >> ${trace}`,
      'debug: msg="{{ muster_recover[0].spec.environment.DB_PWD }}"',
    ]);
    const answers = bench.bus.answer('muster.rpc.inventory.workloads.mayStart', () => ({
      response: { allowed: true, reason: '' },
      isDisposed: true,
    }));
    const seal = ownSeal(() => Buffer.from(KEY, 'hex'));
    const inventory = await connectBus({ name: 'inventory', servers: [bench.nats.url], seal });
    await bench.worker();
    const spec = { unit: 'db.service', environment: { DB_PWD: 'spec-s3cret' } };
    const id = `job-${bench.next()}`;
    const task = { workload: 'db', generation: 3, driver: 'ansible', spec };
    await inventory.bucket<JobRecord>('jobs').create(id, job(id, { kind: 'recover', recover: [task] }));
    const record = await bench.ended(id);
    expect(await readFile(trace, 'utf8')).toBe('spec-s3cret\n');
    expect(record).toMatchObject({ status: 'Complete', schema: 2 });
    expect(JSON.stringify(record)).not.toContain('spec-s3cret');
    expect((await inventory.bucket<JobRecord>('jobs').get(id))?.value.recover).toMatchObject([task]);
    expect(await bench.logOf(id)).not.toMatch(/spec-s3cret|muster-sealed/);
    await inventory.close();
    await answers.close();
  });
});

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, readCredentials, type Bus } from '#bus';
import { SEALED, type BucketName, type JobRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { recoverJob } from '../plan/workloads/recover-job.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';

let sut: RunningInventory;
/** Sees records as they are stored. */
let store: Bus;
const who = { by: 'spec' };
const options = { marker: 'in-clear-1', passwd: 's3cret-1', community: 's3cret-2' };
const device = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1', options };

const gateway = () => sut.as('gateway');
const create = (serial: string, more: object = {}) =>
  gateway().call('inventory.nodes.create', {
    ...who,
    node: { label: 'a', serial, networks: { management: { address: `10.0.0.${serial}` } }, enrolled: false, ...more },
  });
const patch = (name: string, given: object) => gateway().call('inventory.nodes.patch', { ...who, name, patch: given });
/** As inventory reads it. */
const record = async (name: string): Promise<NodeRecord> =>
  (await sut.as('inventory').bucket<NodeRecord>('nodes').get(name))!.value;
const stored = async (bucket: BucketName, key: string): Promise<Record<string, unknown>> =>
  (await store.bucket<Record<string, unknown>>(bucket).get(key))!.value;
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** All that NATS has on its disk, overwritten values among it. */
async function onDisk(): Promise<string> {
  const dir = join(sut.nats.dir, 'js');
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((f) => f.isFile());
  try {
    return (await Promise.all(files.map((f) => readFile(join(f.parentPath, f.name), 'latin1')))).join('\n');
  } catch (e) {
    // The server has just put another in its place.
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return onDisk();
    throw e;
  }
}

beforeAll(async () => {
  sut = await RunningInventory.start();
  const credentials = readCredentials(join(sut.nats.dir, 'creds', 'inventory.json'));
  store = await connectBus({ name: 'store', servers: [sut.nats.url], credentials });
  await sut.work('provisioner', ['ansible']);
  await sut.work('fencer', ['ipmitool']);
});
afterAll(async () => {
  await store?.close();
  await sut?.stop();
});

describe('options of power devices', () => {
  const levels = [[device]];
  const file = (name: string, serial: string): string =>
    JSON.stringify({
      nodes: [
        {
          label: 'f',
          serial,
          networks: { management: { address: `10.0.1.${serial}` } },
          enrolled: false,
          powerLevels: [[{ ...device, address: '127.0.0.2', options: { passwd: name } }]],
        },
      ],
    });

  it('are sealed at rest where they are secret, and nowhere in clear', async () => {
    await create('1', { powerLevels: levels });
    await gateway().call('inventory.nodes.import', { ...who, format: 'yaml', content: file('s3cret-3', '1') });
    await seen(sut.nodes, 'f-1', () => true);
    const disk = await onDisk();
    expect(disk).toContain('in-clear-1');
    expect(disk).not.toContain('s3cret');
    expect(await stored('nodes', 'a-1')).toMatchObject({
      schema: 2,
      powerLevels: [
        [{ options: { marker: 'in-clear-1', passwd: expect.stringContaining(SEALED), community: expect.any(String) } }],
      ],
    });
    expect(plain(await record('a-1'))).toMatchObject({ powerLevels: [[{ options }]] });
    expect(plain(await record('f-1'))).toMatchObject({ powerLevels: [[{ options: { passwd: 's3cret-3' } }]] });
    expect(await record('a-1')).not.toHaveProperty('schema');
  });

  it('stay what they are when they are sent back masked, and an edit that changes nothing writes nothing', async () => {
    const masked = { ...options, passwd: '***', community: '***' };
    const before = await gateway().call('inventory.nodes.get', { name: 'a-1' });
    const same = await patch('a-1', { powerLevels: [[{ ...device, options: masked }]] });
    expect(before).not.toHaveProperty('schema');
    expect(same.revision).toBe(before.revision);
    expect((await patch('a-1', { powerLevels: levels })).revision).toBe(before.revision);
    const other = await patch('a-1', { powerLevels: [[{ ...device, options: { ...masked, passwd: 's3cret-4' } }]] });
    expect(other.revision).toBeGreaterThan(before.revision);
    expect(plain(await record('a-1'))).toMatchObject({
      powerLevels: [[{ options: { ...options, passwd: 's3cret-4' } }]],
    });
    expect(JSON.stringify(other)).not.toMatch(/s3cret|muster-sealed/);
  });

  it('are not sealed where none is secret: any version may read the record', async () => {
    await create('2', { powerLevels: [[{ ...device, address: '127.0.0.3', options: { cipher: '3', passwd: '' } }]] });
    expect(await stored('nodes', 'a-2')).not.toHaveProperty('schema');
  });
});

describe('variables of nodes', () => {
  const vars = {
    marker: 'in-clear-2',
    db_pwd: 's3cret-5',
    url: 'postgres://u:s3cret-6@h',
    peers: [{ name: 'p', psk: 's3cret-7' }],
  };
  const shown = { ...vars, db_pwd: '***', url: '***', peers: [{ name: 'p', psk: '***' }] };

  it('are sealed at rest where they are secret, and nowhere in clear', async () => {
    await create('5', { vars });
    const networks = { management: { address: '10.0.1.9' } };
    const content = JSON.stringify({ nodes: [{ label: 'f', serial: '9', networks, enrolled: false, vars }] });
    await gateway().call('inventory.nodes.import', { ...who, format: 'yaml', content });
    await seen(sut.nodes, 'f-9', () => true);
    const disk = await onDisk();
    expect(disk).toContain('in-clear-2');
    expect(disk).not.toMatch(/s3cret-[567]/);
    expect(await stored('nodes', 'f-9')).toMatchObject({ schema: 2, vars: { marker: 'in-clear-2' } });
    for (const name of ['a-5', 'f-9']) expect(plain((await record(name)).vars)).toEqual(vars);
  });

  it('stay what they are by an edit of others, masked or absent, and the same again writes nothing', async () => {
    const before = await gateway().call('inventory.nodes.get', { name: 'a-5' });
    expect(before.vars).toEqual(shown);
    for (const same of [shown, vars]) expect((await patch('a-5', { vars: same })).revision).toBe(before.revision);
    expect((await patch('a-5', { vars: { rack: 'r2' } })).vars).toEqual({ ...shown, rack: 'r2' });
    expect((await patch('a-5', { vars: { ...shown, db_pwd: 's3cret-8' } })).vars).toEqual({ ...shown, rack: 'r2' });
    expect(plain((await record('a-5')).vars)).toEqual({ ...vars, db_pwd: 's3cret-8', rack: 'r2' });
    await patch('a-5', { vars: { db_pwd: null, url: null, peers: null } });
    expect(await stored('nodes', 'a-5')).not.toHaveProperty('schema');
    await patch('a-5', { vars });
    expect(await onDisk()).not.toMatch(/s3cret-[5678]/);
  });

  it('go with the node to the hardware that comes in its place', async () => {
    await create('6', { vars });
    await gateway().call('inventory.nodes.replace', { ...who, name: 'a-6', replacement: { serial: '7' } });
    await seen(sut.nodes, 'a-7', () => true);
    expect(plain((await record('a-7')).vars)).toEqual(vars);
    expect(await onDisk()).not.toMatch(/s3cret-[567]/);
  });
});

describe('specs of workloads', () => {
  const spec = { unit: 'in-clear-3.service', environment: { DB_PWD: 's3cret-9', URL: 'redis://:s3cret-10@h' } };
  const put = (given: object) =>
    gateway().call('inventory.workloads.put', { ...who, name: 'db', workload: { desired: 'stopped', ...given } });

  it('are sealed at rest where they are secret, in the jobs that start them too, and nowhere in clear', async () => {
    await put({ recovery: { driver: 'ansible', spec } });
    const task = { workload: 'db', generation: 1, driver: 'ansible', spec };
    const job = recoverJob('job-db', { node: 'a-1', cause: 'spec', workloads: [] }, 0, Date.now());
    await sut
      .as('inventory')
      .bucket<JobRecord>('jobs')
      .create(job.id, { ...job, recover: [task] });
    const disk = await onDisk();
    expect(disk).toContain('in-clear-3');
    expect(disk).not.toMatch(/s3cret-(9|10)/);
    expect(await stored('workloads', 'db')).toMatchObject({ schema: 2, recovery: { spec: { unit: spec.unit } } });
    expect(await stored('jobs', job.id)).toMatchObject({ schema: 2, recover: [{ spec: { unit: spec.unit } }] });
    const shown = await gateway().call('inventory.jobs.get', { id: job.id });
    expect(shown.recover).toMatchObject([{ spec: { unit: spec.unit, environment: { DB_PWD: '***', URL: '***' } } }]);
    expect(shown).not.toHaveProperty('schema');
  });

  it('stay what they are when they are sent back masked, and the same again writes nothing', async () => {
    const before = await gateway().call('inventory.workloads.get', { name: 'db' });
    expect(before.recovery.spec).toEqual({ ...spec, environment: { DB_PWD: '***', URL: '***' } });
    for (const recovery of [before.recovery, { driver: 'ansible', spec }])
      expect((await put({ recovery })).revision).toBe(before.revision);
    expect((await put({ priority: 7, recovery: before.recovery })).revision).toBeGreaterThan(before.revision);
    const { value } = (await sut.as('inventory').bucket<WorkloadRecord>('workloads').get('db'))!;
    expect(plain(value)).toMatchObject({ priority: 7, recovery: { spec } });
  });
});

const clear = { wpwd: 's3cret-in-clear', rack: 'r9' };
const workloadInClear = aWorkload('old', {
  desired: 'stopped',
  recovery: { driver: 'ansible', spec: { environment: clear } },
});

describe('a record that was stored in clear', () => {
  it('is read, and sealed with its next write', async () => {
    await create('3', {});
    const clear = await store.bucket<NodeRecord>('nodes').mutate('a-3', (now) => ({
      ...now!.value,
      powerLevels: [[{ ...device, address: '127.0.0.4' }]],
    }));
    await seen(sut.nodes, 'a-3', (n) => n.powerLevels.length === 1);
    const shown = await gateway().call('inventory.nodes.get', { name: 'a-3' });
    expect(shown).toMatchObject({ revision: clear.revision, powerLevels: [[{ options: { passwd: '***' } }]] });
    await gateway().call('inventory.nodes.cordon', { ...who, name: 'a-3', reason: 'look' });
    expect(JSON.stringify(await stored('nodes', 'a-3'))).not.toContain('s3cret');
    expect(plain(await record('a-3'))).toMatchObject({ powerLevels: [[{ options }]], cordon: { reason: 'look' } });
  });

  it('is sealed by the next conductor, though nobody writes it', async () => {
    const task = { workload: 'old', generation: 1, driver: 'ansible', spec: { environment: clear } };
    const of = (id: string, more: Partial<JobRecord>): JobRecord => ({
      ...recoverJob(id, { node: 'a-3', cause: 'spec', workloads: [] }, 0, Date.now()),
      recover: [task],
      ...more,
    });
    await create('8', {});
    await store.bucket<NodeRecord>('nodes').mutate('a-8', (now) => ({ ...now!.value, vars: clear }));
    await store.bucket<WorkloadRecord>('workloads').create('old', workloadInClear);
    await store.bucket<JobRecord>('jobs').create('job-over', of('job-over', { status: 'Complete', settled: true }));
    await store.bucket<JobRecord>('jobs').create('job-open', of('job-open', {}));
    const harmless = await store.bucket('nodes').get('a-2');
    await sut.restart('inventory-1');
    await sut.everywhere(
      () => Promise.all([stored('nodes', 'a-8'), stored('workloads', 'old'), stored('jobs', 'job-over')]),
      (records) => records.every((r) => r['schema'] === 2 && !JSON.stringify(r).includes('s3cret')),
    );
    expect(plain((await record('a-8')).vars)).toEqual(clear);
    expect(await stored('jobs', 'job-open')).not.toHaveProperty('schema');
    expect(await store.bucket('nodes').get('a-2')).toEqual(harmless);
  });
});

describe('with another key', () => {
  const replica = 'inventory-1';

  it('nothing is read wrongly, written over or decided; it says what to do, and all is there with the right one', async () => {
    const right = await readFile(sut.secretsFile, 'utf8');
    const before = await stored('nodes', 'a-1');
    const inClear = { ...workloadInClear, name: 'old-2' };
    await store.bucket<WorkloadRecord>('workloads').create('old-2', inClear);
    await writeFile(sut.secretsFile, '22'.repeat(32));
    await sut.restart(replica);
    const refused = {
      code: 'RECORD_UNREADABLE',
      message: expect.stringContaining('Give this service the key file that sealed it (keys.secrets)') as unknown,
    };
    await expect(gateway().call('inventory.nodes.get', { name: 'a-1' })).rejects.toMatchObject(refused);
    await expect(patch('a-1', { vars: { rack: 'r1' } })).rejects.toMatchObject(refused);
    expect(await gateway().call('inventory.nodes.get', { name: 'a-2' })).toMatchObject({ name: 'a-2' });
    const alarm = async (subject: string): Promise<string> => {
      const { items } = await sut.everywhere(
        () => gateway().call('inventory.alarms.list', {}),
        (alarms) => alarms.items.some((a) => a.code === 'record-unreadable' && a.subject === subject),
      );
      return items.find((a) => a.subject === subject)?.message ?? '';
    };
    expect(await alarm('nodes=a-1')).toContain('keys.secrets');
    // Only a later round of the same conductor can know this one.
    await store.bucket('workloads').create('broken', {});
    expect(await alarm('workloads=broken')).not.toContain('keys.secrets');
    expect(await stored('nodes', 'a-1')).toEqual(before);
    expect(plain(await stored('workloads', 'old-2'))).toEqual(inClear);
    await writeFile(sut.secretsFile, right);
    await sut.restart(replica);
    await sut.everywhere(
      () => stored('workloads', 'old-2'),
      (r) => r['schema'] === 2,
    );
    expect(await gateway().call('inventory.nodes.get', { name: 'a-1' })).toMatchObject({
      powerLevels: [[{ options: { passwd: '***' } }]],
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMembers } from '#bus';
import type { JobRecord, NodeRecord, OperationRequest, WorkloadRecord } from '#contracts';
import { RunningInventory, seen } from '../testing/running-inventory.js';

let sut: RunningInventory;
const who = { by: 'spec' };
const vars = {
  rack: 'r1',
  db_pwd: 's3cret-1',
  dsn: 'x',
  url: 'postgres://u:s3cret-2@h',
  snmp: { community: 's3cret-3' },
};
const options = { lanplus: '1', passwd: 's3cret-4', community: 's3cret-5' };
const device = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1', options };
const spec = { unit: 'db.service', environment: { DB_PWD: 's3cret-6', URL: 'redis://:s3cret-7@h' } };

const gateway = () => sut.as('gateway');
const create = (serial: string, more: object = {}) =>
  gateway().call('inventory.nodes.create', {
    ...who,
    node: { label: 'a', serial, networks: { management: { address: `10.0.0.${serial}` } }, enrolled: false, ...more },
  });
const record = async (name = 'a-1'): Promise<NodeRecord> => {
  const found = await sut.as('inventory').bucket<NodeRecord>('nodes').get(name);
  return found!.value;
};
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
  await sut.work('fencer', ['ipmitool']);
  await create('1', { vars, powerLevels: [[device]] });
  await seen(sut.nodes, 'a-1', () => true);
});
afterAll(() => sut?.stop());

describe('secrets of nodes', () => {
  it('are shown to nobody, by whichever way nodes are shown', async () => {
    const shown = [
      await gateway().call('inventory.nodes.get', { name: 'a-1' }),
      await gateway().call('inventory.nodes.each', { names: ['a-1'] }),
      await gateway().call('inventory.nodes.list', {}),
      await gateway().call('inventory.nodes.text', {}),
      await gateway().call('inventory.nodes.text', { fields: ['name', 'vars', 'powerLevels'] }),
      await gateway().call('inventory.nodes.text', { fields: ['vars', 'inService'] }),
      await gateway().call('inventory.nodes.export', { format: 'yaml' }),
      await gateway().call('inventory.nodes.export', { format: 'csv' }),
      await gateway().call('inventory.nodes.cordon', { ...who, name: 'a-1', reason: 'look' }),
      await gateway().call('inventory.nodes.uncordon', { ...who, name: 'a-1' }),
      await gateway().call('inventory.nodes.patch', { ...who, name: 'a-1', patch: { vars: { zone: 'z' } } }),
    ];
    for (const answer of shown) expect(JSON.stringify(answer)).not.toContain('s3cret');
    for (const answer of shown.slice(0, 2)) expect(JSON.stringify(answer)).toContain('r1');
  });

  it('cannot be guessed by a selector', async () => {
    for (const selector of ['vars.db_pwd=s3cret-1', 'vars.url=postgres://u:s3cret-2@h']) {
      expect((await gateway().call('inventory.nodes.list', { selector })).items).toEqual([]);
      expect((await gateway().call('inventory.nodes.text', { selector })).count).toBe(0);
      expect((await gateway().call('inventory.nodes.export', { format: 'yaml', selector })).text).not.toContain('a-1');
    }
    expect((await gateway().call('inventory.nodes.list', { selector: 'vars.rack=r1' })).items).toHaveLength(1);
  });

  it('stay what they are when what was shown is sent back: by an edit, and by a file', async () => {
    const before = await record();
    const { vars: shownVars, powerLevels } = await gateway().call('inventory.nodes.get', { name: 'a-1' });
    const levels = powerLevels.map((level) => level.map(({ secret: _none, ...d }) => d));
    const edited = { vars: { ...shownVars, rack: 'r2' }, powerLevels: levels };
    await gateway().call('inventory.nodes.patch', { ...who, name: 'a-1', patch: edited });
    expect(plain(await record())).toMatchObject({ vars: { ...vars, rack: 'r2' }, powerLevels: [[{ options }]] });
    for (const format of ['yaml', 'csv'] as const) {
      await sut.everywhere(
        () => gateway().call('inventory.nodes.get', { name: 'a-1' }),
        (node) => node.vars['rack'] === 'r2',
      );
      const { text: content } = await gateway().call('inventory.nodes.export', { format });
      expect(await gateway().call('inventory.nodes.import', { ...who, format, content })).toMatchObject({
        unchanged: ['a-1'],
      });
    }
    expect(plain((await record()).vars)).toEqual(plain({ ...before.vars, rack: 'r2' }));
  });

  it('are not taken where nothing is stored that a mask could stand for, nor to another device', async () => {
    await expect(create('2', { vars: { db_pwd: '***' } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('vars.db_pwd') as unknown,
    });
    const patch = { powerLevels: [[{ ...device, address: '10.9.9.9', options: { ...options, passwd: '***' } }]] };
    await expect(gateway().call('inventory.nodes.patch', { ...who, name: 'a-1', patch })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('another driver, address or port') as unknown,
    });
  });
});

describe('secrets of workloads', () => {
  const put = (given: object) =>
    gateway().call('inventory.workloads.put', { ...who, name: 'db', workload: { desired: 'stopped', ...given } });

  it('are shown to nobody, and stay when what was shown is sent back', async () => {
    const made = await put({ recovery: { driver: 'ansible', spec } });
    const listed = await sut.everywhere(
      () => gateway().call('inventory.workloads.list', {}),
      ({ items }) => items.length === 1,
    );
    const got = await gateway().call('inventory.workloads.get', { name: 'db' });
    for (const answer of [made, listed, got]) expect(JSON.stringify(answer)).not.toContain('s3cret');
    await put({ priority: 7, recovery: got.recovery });
    const stored = await sut.as('inventory').bucket<WorkloadRecord>('workloads').get('db');
    expect(plain(stored!.value)).toMatchObject({ priority: 7, recovery: { spec } });
    await expect(put({ recovery: { driver: 'ansible', spec: { other_pwd: '***' } } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    });
  });
});

describe('secrets of an operation', () => {
  it('are sealed at rest, and shown to nobody', async () => {
    const extraVars = { db_pwd: 's3cret-8', url: 'redis://:s3cret-9@h', rack: 'r1' };
    const request: OperationRequest = { kind: 'discover', addresses: ['10.0.0.77'], extraVars };
    const { job } = await gateway().call('inventory.operations.submit', { ...who, ...request });
    const { value: record } = (await sut.as('inventory').bucket<JobRecord>('jobs').get(job))!;
    expect(JSON.stringify(record)).not.toContain('s3cret');
    expect(plain(openMembers(Buffer.from('11'.repeat(32), 'hex'), record.extraVars))).toEqual(extraVars);
    const shown = await gateway().call('inventory.jobs.get', { id: job });
    expect(shown.extraVars).toEqual({ db_pwd: '***', url: '***', rack: 'r1' });
  });

  it('are not those that were shown of another', async () => {
    const request: OperationRequest = { kind: 'check', nodes: ['a-1'], extraVars: { db_pwd: '***' } };
    await expect(gateway().call('inventory.operations.submit', { ...who, ...request })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('extra-vars.db_pwd') as unknown,
    });
  });
});

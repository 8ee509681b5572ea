import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSecret, type Closable, type SealedSecret } from '#bus';
import {
  RESERVATIONS_KEY,
  Subjects,
  type Hold,
  type IncidentRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { anIncident } from '../testing/records.js';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
const by = { by: 'spec' };
const bmc = { id: 'bmc', driver: 'ipmitool', address: '127.0.0.1', username: 'admin' };
const create = (serial: string, password = 's3cret') =>
  gateway().call('inventory.nodes.create', {
    ...by,
    node: {
      label: 'a',
      serial,
      networks: { management: { address: `10.0.0.${serial}` } },
      powerLevels: [[{ ...bmc, address: `127.0.0.${serial}`, password }]],
    },
  });

beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
  await sut.work('fencer', ['ipmitool']);
  await create('1');
});

afterAll(async () => {
  await sut?.stop();
});

const gateway = () => sut.as('gateway');
const get = (name = 'a-1') => gateway().call('inventory.nodes.get', { name });
const patch = (p: object, revision?: number) =>
  gateway().call('inventory.nodes.patch', {
    ...by,
    name: 'a-1',
    patch: p,
    ...(revision !== undefined && { revision }),
  });
const remove = (name: string, revision?: number) =>
  gateway().call('inventory.nodes.delete', { ...by, name, ...(revision !== undefined && { revision }) });
const hold = (name: string, h: Omit<Hold, 'generation' | 'at'> | undefined) =>
  sut
    .as('inventory')
    .bucket<Reservations>('admission')
    .mutate(RESERVATIONS_KEY, (r) => {
      const { [name]: _before, ...held } = r?.value.held ?? {};
      return { pending: {}, generation: 1, held: h ? { ...held, [name]: { ...h, generation: 1, at: 1 } } : held };
    });
const incidents = () => sut.as('inventory').bucket<IncidentRecord>('incidents');

/** Passwords in the bucket, opened, by their keys. */
async function passwords(): Promise<Record<string, string>> {
  const sealed = await sut.as('inventory').bucket<SealedSecret>('secrets').list();
  const key = Buffer.from('11'.repeat(32), 'hex');
  return Object.fromEntries(sealed.map((s) => [s.key, openSecret(key, s.value)]));
}

/** What is stored under one subject by now. */
async function told(kind: string, key: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let reader: Closable | undefined;
  await new Promise<void>((resolve) => {
    reader = sut.as('inventory').follow([Subjects.event(kind, key)], { fromSeq: 1, onLive: resolve }, (_s, event) => {
      found.push((event as { data: unknown }).data);
    });
  });
  await reader?.close();
  return found;
}

describe('the edit of a node', () => {
  it('is one revision and one event, and none where nothing changes', async () => {
    const before = await get();
    const after = await patch({ vars: { rack: 'r1' }, failureDomain: 'b' }, before.revision);
    expect(after).toMatchObject({ vars: { rack: 'r1' }, failureDomain: 'b' });
    expect((await patch({ vars: { rack: 'r1' } }, after.revision)).revision).toBe(after.revision);
    await expect(patch({ vars: { rack: 'r2' } }, before.revision)).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
      facts: { revision: after.revision },
    });
    expect(await told('node-edited', 'a-1')).toEqual([{ node: 'a-1', fields: ['failureDomain', 'vars'] }]);
    expect(await told('audit', 'a-1')).toContainEqual(
      expect.objectContaining({ action: 'node-edit', by: 'spec', outcome: 'accepted', detail: 'fields: vars' }),
    );
  });

  it('keeps one password for each device that has one, and none for the others', async () => {
    const [old] = Object.entries(await passwords());
    expect((await patch({ powerLevels: [[{ ...bmc, username: 'root' }]] })).powerLevels[0]?.[0]?.secret).toBe(old?.[0]);
    await patch({ powerLevels: [[{ ...bmc, password: 's3cret' }]] });
    expect(Object.entries(await passwords())).toEqual([old]);
    const view = await patch({
      powerLevels: [[{ ...bmc, password: 'other' }], [{ ...bmc, id: 'pdu', password: 'x' }]],
    });
    const [first, second] = view.powerLevels.flat().map((d) => d.secret ?? '');
    expect(await passwords()).toEqual({ [first!]: 'other', [second!]: 'x' });
    expect(first).not.toBe(old?.[0]);
    await patch({ powerLevels: [[bmc]] });
    expect(await passwords()).toEqual({ [first!]: 'other' });
  });

  it('leaves record and passwords as they are when it is refused', async () => {
    const before = [await get(), await passwords()];
    const change = { powerLevels: [[{ ...bmc, password: 'third' }]] };
    await hold('a-1', { job: 'job-1', kind: 'check' });
    await expect(patch(change)).rejects.toMatchObject({ code: 'NODE_RESERVED', facts: { job: 'job-1' } });
    await hold('a-1', undefined);
    // By hand: the conductor cancels an automatic one at once, for nobody says DOWN.
    await incidents().create('a-1', anIncident('a-1', { phase: 'fencing', cause: 'manual' }));
    await expect(patch(change)).rejects.toMatchObject({ code: 'NODE_BUSY', facts: { incident: 'i-a-1' } });
    await incidents().delete('a-1');
    await expect(patch(change, 1)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    const after = await get();
    expect([{ ...after, reasons: [] }, await passwords()]).toEqual([
      { ...(before[0] as object), reasons: [] },
      before[1],
    ]);
  });

  it('is refused for a node that nobody knows', async () => {
    const call = gateway().call('inventory.nodes.patch', { ...by, name: 'nope-1', patch: { fencing: 'manual' } });
    await expect(call).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
  });
});

describe('a second registration of one name', () => {
  it('is refused, and the first one keeps its password', async () => {
    const before = await passwords();
    const both = await Promise.allSettled([create('2', 'mine'), create('2', 'yours')]);
    expect(both.map((b) => b.status).sort()).toEqual(['fulfilled', 'rejected']);
    const mine = (await get('a-2')).powerLevels[0]?.[0]?.secret ?? '';
    const after = await passwords();
    expect(after[mine]).toBe(both[0].status === 'fulfilled' ? 'mine' : 'yours');
    expect(Object.keys(after)).toHaveLength(Object.keys(before).length + 1);
  });
});

describe('a deletion', () => {
  it('names the claim, the job or the import that holds the node', async () => {
    for (const holder of [{ claim: 'claim-1' }, { job: 'job-1' }, { edit: 'edit-1' }]) {
      await hold('a-2', holder);
      await expect(remove('a-2')).rejects.toMatchObject({
        code: 'NODE_RESERVED',
        message: `a-2 is held by ${Object.values(holder)[0]}`,
        facts: holder,
      });
    }
    await hold('a-2', undefined);
  });

  it('takes the passwords along, and is refused for another revision', async () => {
    const { revision, powerLevels } = await get('a-2');
    await expect(remove('a-2', revision - 1)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    await remove('a-2', revision);
    await expect(get('a-2')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    expect(Object.keys(await passwords())).not.toContain(powerLevels[0]?.[0]?.secret);
  });
});

describe('a workload', () => {
  it('keeps its node from being deleted or replaced from the moment on in which it was assigned', async () => {
    await create('3');
    for (const name of ['db', 'web', 'mail', 'dns']) {
      await gateway().call('inventory.workloads.put', { ...by, name, workload: { desired: 'running', node: 'a-3' } });
      await expect(remove('a-3')).rejects.toMatchObject({
        code: 'WORKLOADS_PRESENT',
        facts: { workloads: expect.arrayContaining([name]) },
      });
    }
    await gateway().call('inventory.workloads.put', { ...by, name: 'ftp', workload: { node: 'a-3' } });
    const replacing = gateway().call('inventory.nodes.replace', {
      ...by,
      name: 'a-3',
      replacement: { serial: '4' },
    });
    await expect(replacing).rejects.toMatchObject({ facts: { workloads: expect.arrayContaining(['ftp']) } });
  });
});

describe('a cordon', () => {
  it('ends at a time to come, and does not end a drain', async () => {
    const cordon = (until?: number) =>
      gateway().call('inventory.nodes.cordon', { ...by, name: 'a-1', reason: 'disk', ...(until && { until }) });
    await expect(cordon(Date.now() - 1000)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect((await get()).cordon).toBeUndefined();
    const until = Date.now() + 60_000;
    expect((await cordon(until)).cordon).toMatchObject({ reason: 'disk', until });
    await sut
      .as('inventory')
      .bucket<NodeRecord>('nodes')
      .mutate('a-1', (n) => (n?.value.cordon ? { ...n.value, cordon: { ...n.value.cordon, drain: true } } : undefined));
    expect((await cordon()).cordon).toEqual({ reason: 'disk', by: 'spec', at: expect.any(Number), drain: true });
  });
});

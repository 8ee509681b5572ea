import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSecret, sealSecret, type KvBucket, type SealedSecret } from '#bus';
import { MusterError, RESERVATIONS_KEY, type ImportOutcome, type NodeRecord, type Reservations } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { hostileFiles, isRefusedInPassing } from '../testing/hostile-files.js';
import { partKey } from '../operations/edit-key.js';
import { RunningInventory } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';
import type { ServiceContext } from '#service';
import type { AgentUsers } from '../agent-users/agent-users.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { EditsService } from './edits.service.js';
import { PowerSecrets } from './power-secrets.js';
import { decideEdit, partsOf, type EditPart, type PreparedEdit } from './edits.js';

let sut: RunningInventory;
const by = { by: 'spec' };
const key = Buffer.from('11'.repeat(32), 'hex');

beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2 });
  await sut.work('provisioner', ['ansible']);
  await sut.work('fencer', ['ipmitool']);
});

afterAll(async () => {
  await sut?.stop();
});

const gateway = () => sut.as('gateway');
const get = (name: string) => gateway().call('inventory.nodes.get', { name });
const load = (content: string, o: { dryRun?: boolean; format?: 'csv' | 'yaml' } = {}): Promise<ImportOutcome> =>
  gateway().call('inventory.nodes.import', { ...by, format: 'csv', content, ...o }, { timeoutMs: 120_000 });
async function exported(format: 'csv' | 'yaml', selector?: string): Promise<string> {
  let text = '';
  let cursor: string | undefined;
  do {
    const q = { format, ...(selector !== undefined && { selector }), ...(cursor !== undefined && { cursor }) };
    const answer = await gateway().call('inventory.nodes.export', q);
    text += answer.text;
    cursor = answer.next;
  } while (cursor !== undefined);
  return text;
}
const admission = () => sut.as('inventory').bucket<Reservations>('admission');
const reservations = async (): Promise<Reservations | undefined> => (await admission().get(RESERVATIONS_KEY))?.value;
/** All of the buckets that an import could touch. */
async function everything(): Promise<unknown> {
  const all = await Promise.all(
    (['nodes', 'secrets', 'admission'] as const).map((name) => sut.as('inventory').bucket(name).list()),
  );
  return all.map((entries) => entries.map((e) => `${e.key} ${e.revision}`).sort());
}
async function passwordOf(name: string): Promise<string> {
  const secret = (await get(name)).powerLevels[0]?.[0]?.secret ?? '';
  const sealed = await sut.as('inventory').bucket<SealedSecret>('secrets').get(secret);
  return sealed ? openSecret(key, sealed.value) : '';
}

const HEAD = 'label,serial,management,power.driver,power.address,power.username,power.password,var:rack';
const line = (i: number, rack = 'r1'): string =>
  `host,${i},10.0.${i >> 8}.${i & 255},ipmitool,10.2.${i >> 8}.${i & 255},admin,pw-${i},${rack}`;
const file = (from: number, to: number, rack?: string): string =>
  `${HEAD}\n${Array.from({ length: to - from + 1 }, (_, i) => line(from + i, rack)).join('\n')}\n`;

describe('an import', () => {
  it('says what it would do, and does nothing of it', async () => {
    const before = await everything();
    const outcome = await load(file(1, 3), { dryRun: true });
    expect(outcome).toEqual({ dryRun: true, created: ['host-1', 'host-2', 'host-3'], updated: [], unchanged: [] });
    expect(await everything()).toEqual(before);
  });

  it('registers all of many nodes, with their passwords, and holds none of them after', async () => {
    const outcome = await load(file(1, 450));
    expect(outcome.created).toHaveLength(450);
    expect(await get('host-450')).toMatchObject({ status: 'Unallocated', vars: { rack: 'r1' } });
    expect(await passwordOf('host-333')).toBe('pw-333');
    expect(await reservations()).toMatchObject({ held: {}, edits: {} });
    expect((await admission().list()).map((e) => e.key)).toEqual([RESERVATIONS_KEY]);
  });

  it('of its own export, or of the same file again, changes nothing', async () => {
    // What is exported is what the replica that is asked has seen.
    await sut.everywhere(
      () => gateway().call('inventory.status', {}),
      (s) => s.nodes.total === 450,
    );
    const before = await everything();
    for (const format of ['csv', 'yaml'] as const) {
      const text = await exported(format);
      expect(text).not.toContain('pw-');
      expect(await load(text, { format })).toMatchObject({ created: [], updated: [], unchanged: { length: 450 } });
    }
    expect((await load(file(1, 450))).unchanged).toHaveLength(450);
    expect(await everything()).toEqual(before);
  });

  it('edits those that exist; a device without a password keeps its own', async () => {
    const text = (address: string): string =>
      `name,power.driver,power.address,power.username,var:rack\nhost-1,ipmitool,${address},root,r9\n`;
    await expect(load(text('10.2.9.9'))).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
    expect(await load(text('10.2.0.1'))).toMatchObject({ updated: ['host-1'] });
    expect(await get('host-1')).toMatchObject({ vars: { rack: 'r9' }, powerLevels: [[{ username: 'root' }]] });
    expect(await passwordOf('host-1')).toBe('pw-1');
    expect((await load(`${HEAD}\n${line(2).replace('pw-2', 'other')}\n`)).updated).toEqual(['host-2']);
    expect(await passwordOf('host-2')).toBe('other');
    const sealed = await sut.as('inventory').bucket('secrets').list();
    expect(sealed.filter((s) => s.key.startsWith('power=host-2='))).toHaveLength(1);
  });

  it('is nothing at all where one line is wrong, and says which', async () => {
    const before = await everything();
    const text = `${file(2000, 2100)}host,3000,not an address,,,,,\nhost,3001,10.0.0.1,,,,,\n`;
    await expect(load(text)).rejects.toMatchObject({
      code: 'IMPORT_INVALID',
      facts: {
        found: 2,
        errors: [
          { line: 103, node: 'host-3000' },
          { line: 104, node: 'host-3001', message: 'node host-1 has the address 10.0.0.1 on management already' },
        ],
      },
    });
    await expect(load('nodes: [', { format: 'yaml' })).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
    await expect(load(`serial\n${'1\n'.repeat(2001)}`)).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
    expect(await everything()).toEqual(before);
  });

  it('of two at the same time is two after each other', async () => {
    const both = await Promise.allSettled([load(file(4000, 4100, 'left')), load(file(4000, 4100, 'right'))]);
    const done = both.flatMap((b) => (b.status === 'fulfilled' ? [b.value] : []));
    expect(done.flatMap((d) => d.created)).toHaveLength(101);
    const nodes = await sut.as('inventory').bucket<NodeRecord>('nodes').list();
    const racks = new Set(nodes.flatMap((e) => (e.key > 'host-4' && e.key.length === 9 ? [e.value.vars['rack']] : [])));
    expect(racks.size).toBe(1);
    expect(await reservations()).toMatchObject({ held: {}, edits: {} });
  });

  it('selects what it exports', async () => {
    const text = await exported('csv', 'vars.rack=r9');
    expect(text.split('\n')).toHaveLength(3);
    await expect(exported('csv', 'rack=r9')).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });
});

/** As a replica leaves it that dies after this step. */
async function crash(edit: string, prepared: PreparedEdit, decided: boolean): Promise<void> {
  for (const [name, password] of Object.entries(prepared.secrets))
    await sut.as('inventory').bucket<SealedSecret>('secrets').create(name, sealSecret(key, password));
  for (const part of partsOf(edit, prepared))
    await sut.as('inventory').bucket<EditPart>('admission').create(partKey(edit, part.part), part);
  const nodes = prepared.changes.map((c) => (c.kind === 'create' ? c.node.name : c.name));
  if (decided) await admission().mutate(RESERVATIONS_KEY, (r) => r && decideEdit(r.value, edit, nodes, 1));
}

describe('a replica that dies', () => {
  const change = (rack: string): PreparedEdit => ({
    changes: [
      { kind: 'edit', name: 'host-10', patch: { vars: { rack } }, fields: ['vars'] },
      { kind: 'create', node: aNode(`new-${rack}`, { networks: { management: { address: `10.9.0.${rack}` } } }) },
      { kind: 'delete', name: 'host-11' },
      { kind: 'edit', name: 'gone-1', patch: { fencing: 'manual' }, fields: ['fencing'] },
    ],
    secrets: { [`power=new-${rack}=bmc=n1`]: 'p' },
    copies: new Map(),
    drops: [],
  });

  it('after the decision leaves it to the other one, which writes all of it', async () => {
    await crash('edit-dead-1', change('1'), true);
    // From the bucket: a view may not even have seen the decision yet.
    await until(
      async () => (await reservations())?.edits?.['edit-dead-1'] === undefined,
      'the edit to be written to its end',
    );
    expect(await get('host-10')).toMatchObject({ vars: { rack: '1' } });
    expect(await get('new-1')).toMatchObject({ name: 'new-1' });
    await expect(get('host-11')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    expect((await reservations())?.held).toEqual({});
  });

  it('half-way leaves nodes that nobody else edits or removes until all is written', async () => {
    await admission().mutate(
      RESERVATIONS_KEY,
      (r) => r && { ...r.value, held: { 'host-12': { edit: 'edit-x', generation: 1, at: 1 } } },
    );
    const patch = { vars: { rack: 'mine' } };
    for (const call of [
      () => gateway().call('inventory.nodes.patch', { ...by, name: 'host-12', patch }),
      () => gateway().call('inventory.nodes.delete', { ...by, name: 'host-12' }),
      () => gateway().call('inventory.nodes.replace', { ...by, name: 'host-12', replacement: { serial: 'x' } }),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'NODE_RESERVED', facts: { edit: 'edit-x' } });
    await expect(load('name,var:rack\nhost-12,mine\n')).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
    await admission().mutate(RESERVATIONS_KEY, (r) => r && { ...r.value, held: {} });
  });
});

describe('what was prepared and never decided', () => {
  const sweeper = (reserved: Pick<KvBucket<Reservations>, 'get' | 'mutate'> = admission()): EditsService => {
    const bus = sut.as('inventory');
    const { clock, random } = bus;
    const store = { clock, random, bus, nodes: { bucket: bus.bucket('nodes') }, reservations: { bucket: reserved } };
    const secrets = new PowerSecrets({ bus } as unknown as ServiceContext);
    return new EditsService(store as unknown as InventoryStore, secrets, {} as AgentUsers);
  };
  const change = (record: string): PreparedEdit => ({
    changes: [{ kind: 'edit', name: 'host-30', patch: { vars: { rack: 'never' } }, fields: ['vars'] }],
    secrets: { 'power=host-30=bmc=n9': 'p', [record]: 'used' },
    copies: new Map(),
    drops: [],
  });

  it('goes, with the passwords that no record has, and its replica finds it stale', async () => {
    const used = (await get('host-30')).powerLevels[0]?.[0]?.secret ?? '';
    await sut.as('inventory').bucket('secrets').delete(used);
    await crash('edit-slow-1', change(used), false);
    const before = await reservations();
    await sweeper().sweep('edit-slow-1', () => undefined);
    expect((await admission().list()).map((e) => e.key)).toEqual([RESERVATIONS_KEY]);
    expect(await passwordOf('host-30')).toBe('used');
    expect(await sut.as('inventory').bucket('secrets').get('power=host-30=bmc=n9')).toBeUndefined();
    expect((await reservations())?.generation).toBe((before?.generation ?? 0) + 1);
    expect((await get('host-30')).vars['rack']).toBe('r1');
  });

  it('is left alone by who has lost the lease meanwhile, and by who is so late that it was decided after all', async () => {
    const password = 'power=host-30=bmc=n9';
    const isThere = async (): Promise<boolean> =>
      (await admission().get(partKey('edit-late-1', 0))) !== undefined &&
      (await sut.as('inventory').bucket('secrets').get(password)) !== undefined;
    await crash('edit-late-1', { ...change(password), secrets: { [password]: 'p' } }, false);
    // Of its own: the conductor that runs here would carry out what is decided.
    let value: Reservations = { held: {}, pending: {}, generation: 1 };
    let afterSweep = (): void => undefined;
    const reserved = {
      get: () => Promise.resolve({ key: RESERVATIONS_KEY, value, revision: 1 }),
      mutate: async (_key: string, fn: Parameters<KvBucket<Reservations>['mutate']>[1]) => {
        const next = await fn({ key: RESERVATIONS_KEY, value, revision: 1 });
        value = next ?? value;
        afterSweep();
        return { value, revision: 1, changed: next !== undefined };
      },
    };
    const lost = new MusterError('LEASE_LOST', 'another may be the conductor');
    const heldFor = (checks: number) => (): void => {
      if (checks-- <= 0) throw lost;
    };
    await expect(sweeper(reserved).sweep('edit-late-1', heldFor(0))).rejects.toBe(lost);
    expect(value.generation).toBe(1);
    await expect(sweeper(reserved).sweep('edit-late-1', heldFor(1))).rejects.toBe(lost);
    expect(await isThere()).toBe(true);
    afterSweep = () => (value = decideEdit(value, 'edit-late-1', ['host-30'], 1));
    await sweeper(reserved).sweep('edit-late-1', () => undefined);
    expect(await isThere()).toBe(true);
    await sweeper().sweep('edit-late-1', () => undefined);
    expect(await isThere()).toBe(false);
  });

  it('is prepared anew where something was reserved after it was read, so that nothing rests on what is over', async () => {
    let times = 0;
    await sweeper().apply('edit-anew-1', async () => {
      times += 1;
      if (times === 1)
        await admission().mutate(RESERVATIONS_KEY, (r) => r && { ...r.value, generation: r.value.generation + 1 });
      const patch = { vars: { rack: `try-${times}` } };
      return {
        secrets: {},
        copies: new Map(),
        drops: [],
        changes: [{ kind: 'edit', name: 'host-31', patch, fields: ['vars'] }],
      };
    });
    expect(times).toBe(2);
    expect((await get('host-31')).vars['rack']).toBe('try-2');
    expect((await reservations())?.held).toEqual({});
  });

  it('deletes no node that has come back to serve since it was decided, and keeps its password', async () => {
    const was = await get('host-32');
    const secret = was.powerLevels[0]?.[0]?.secret ?? '';
    const nodes = sut.as('inventory').bucket<NodeRecord>('nodes');
    await nodes.mutate('host-32', (r) => r && { ...r.value, status: 'Allocated', state: 'Disappeared' });
    await sweeper().apply('edit-back-1', async () => {
      await nodes.mutate('host-32', (r) => r && { ...r.value, state: 'Discovered' });
      return {
        secrets: {},
        copies: new Map(),
        drops: [secret],
        changes: [{ kind: 'delete', name: 'host-32', unlessServing: true }],
      };
    });
    expect((await nodes.get('host-32'))?.value.state).toBe('Discovered');
    expect(await passwordOf('host-32')).toBe('pw-32');
    expect((await reservations())?.held).toEqual({});
    await nodes.mutate('host-32', (r) => r && { ...r.value, status: was.status, state: was.state });
  });

  it('goes also where the first of its parts was never written, or is gone', async () => {
    for (const part of [1, 2])
      await sut.as('inventory').bucket<EditPart>('admission').create(partKey('edit-torn-1', part), {
        edit: 'edit-torn-1',
        part,
        parts: 3,
        changes: [],
        drops: [],
        fresh: [],
      });
    await sweeper().sweep('edit-torn-1', () => undefined);
    expect((await admission().list()).map((e) => e.key)).toEqual([RESERVATIONS_KEY]);
  });
});

describe('a replacement', () => {
  const replace = (name: string, replacement: { serial: string; label?: string }, revision?: number) =>
    gateway().call('inventory.nodes.replace', {
      ...by,
      name,
      replacement,
      ...(revision !== undefined && { revision }),
    });

  it('is a new record in the place of the old one, with its password, and nothing that the old machine proved', async () => {
    await sut
      .as('inventory')
      .bucket<NodeRecord>('nodes')
      .mutate('host-20', (n) => n && { ...n.value, hostGroup: 'service-worker', bootId: 'x', sshHostKeys: ['k'] });
    const old = await get('host-20');
    await expect(replace('host-20', { serial: 'R20' }, old.revision - 1)).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
    });
    const view = await replace('host-20', { serial: 'R20' }, old.revision);
    expect(view).toMatchObject({
      name: 'host-R20',
      hostGroup: 'service-worker',
      vars: old.vars,
      networks: old.networks,
      status: 'Unallocated',
      state: 'Unknown',
      // No member before its agent is there.
      enrolled: false,
      awaited: true,
    });
    expect(old.enrolled).toBe(true);
    expect(view).not.toHaveProperty('bootId');
    expect(view).not.toHaveProperty('sshHostKeys');
    expect(await passwordOf('host-R20')).toBe('pw-20');
    await expect(get('host-20')).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    const sealed = await sut.as('inventory').bucket('secrets').list();
    expect(sealed.filter((s) => s.key.startsWith('power=host-20='))).toEqual([]);
  });

  it('is refused by the rules of a deletion, and changes nothing then', async () => {
    await sut
      .as('inventory')
      .bucket<NodeRecord>('nodes')
      .mutate('host-21', (n) => n && { ...n.value, status: 'Allocated', state: 'Discovered' });
    const before = await everything();
    await expect(replace('host-21', { serial: 'R21' })).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await expect(replace('host-22', { serial: '22' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(replace('host-22', { serial: '23' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(replace('nope-1', { serial: '23' })).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    expect(await everything()).toEqual(before);
  });
});

describe('deletions', () => {
  it('of many nodes at once by both replicas are all done, each refusal for itself', async () => {
    const names = Array.from({ length: 120 }, (_, i) => `host-${i + 300}`);
    await sut
      .as('inventory')
      .bucket<NodeRecord>('nodes')
      .mutate('host-310', (r) => r && { ...r.value, status: 'Allocated', state: 'Discovered' });
    const all = await Promise.allSettled(
      [...names, 'nobody-1', 'host-300'].map((name) =>
        gateway().call('inventory.nodes.delete', { ...by, name }, { timeoutMs: 20_000 }),
      ),
    );
    const codes = all.flatMap((r) => (r.status === 'rejected' ? [(r.reason as { code: string }).code] : []));
    expect(codes.sort()).toEqual(['ILLEGAL_TRANSITION', 'NODE_UNKNOWN', 'NODE_UNKNOWN']);
    const left = (await sut.as('inventory').bucket<NodeRecord>('nodes').list()).map((e) => e.key);
    expect(left.filter((name) => names.includes(name))).toEqual(['host-310']);
    expect(await reservations()).toMatchObject({ held: {}, edits: {} });
  });
});

describe('a file that was made to hurt', () => {
  it.each(hostileFiles)('a %s file with %s is refused while everything else goes on', (format, _what, content) =>
    isRefusedInPassing(load(content(), { format })),
  );

  it.each<['yaml' | 'csv', string]>([
    [
      'yaml',
      'nodes:\n  - {label: a, serial: "77", networks: {management: {address: 10.9.0.1}}, vars: {x: "\\e]0;gone"}}\n',
    ],
    ['yaml', 'nodes:\n  - {label: a, serial: "77", networks: {management: {address: 10.9.0.1}}, vars: {"x\\0": 1}}\n'],
    ['csv', 'label,serial,management,var:x\na,77,10.9.0.1,\u001b]0;gone\n'],
    ['csv', 'label,serial,management,var:x\na,77,10.9.0.1,"{""a"":""\\u0000""}"\n'],
  ])('a %s file whose texts steer a terminal is refused as JSON is', async (format, content) => {
    await expect(load(content, { format, dryRun: true })).rejects.toMatchObject({
      code: 'IMPORT_INVALID',
      message: expect.stringContaining('control character') as unknown,
    });
  });
});

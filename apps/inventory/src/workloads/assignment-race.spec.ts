import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  defaultSettings,
  RESERVATIONS_KEY,
  type AlarmRecord,
  type IncidentRecord,
  type NodeRecord,
  type Reservations,
  type WorkloadRecord,
} from '#contracts';
import type { ServiceContext } from '#service';
import type { AgentUsers } from '../agent-users/agent-users.js';
import type { RevocationService } from '../agents/revocation.service.js';
import { EditsService } from '../node-requests/edits.service.js';
import { DeletionsService } from '../node-requests/deletions.service.js';
import { PowerSecrets } from '../node-requests/power-secrets.js';
import { RemovableNodes } from '../node-requests/removable-nodes.js';
import { ReplacementService } from '../node-requests/replacement.service.js';
import type { ServiceView } from '../nodes/service-view.js';
import type { PowerQuarantine } from '../power/power-quarantine.js';
import { ReservationBook } from '../operations/reservation-book.js';
import type { InventoryStore } from '../store/inventory-store.js';
import type { KnownNames } from '../store/known-names.js';
import { RunningInventory } from '../testing/running-inventory.js';
import { GenerationFloor } from './generation-floor.js';
import type { ReportsView } from '../reports/reports-view.js';
import { WorkloadService } from './workload.service.js';

let sut: RunningInventory;
const by = { by: 'spec' };

beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
});
afterAll(() => sut?.stop());

const gateway = () => sut.as('gateway');
const create = (serial: string) =>
  gateway().call('inventory.nodes.create', {
    ...by,
    node: { label: 'a', serial, networks: { management: { address: `10.0.0.${serial}` } } },
  });
const workloads = () => sut.as('inventory').bucket<WorkloadRecord>('workloads');
const admission = () => sut.as('inventory').bucket<Reservations>('admission');

/**
 * What another replica works with. It is held up once, while `meanwhile` happens: right before it writes a workload, or
 * right after it has read all of them.
 */
function replica(at: 'mutate' | 'list', meanwhile: () => Promise<unknown>) {
  const bus = sut.as('inventory');
  let pending: (() => Promise<unknown>) | undefined = meanwhile;
  const heldUp = async (here: typeof at): Promise<void> => {
    if (here !== at) return;
    const now = pending;
    pending = undefined;
    await now?.();
  };
  const all = workloads();
  const bucket = {
    get: (key: string) => all.get(key),
    update: (...args: Parameters<typeof all.update>) => all.update(...args),
    delete: (key: string, revision?: number) => all.delete(key, revision),
    lastRevision: () => all.lastRevision(),
    mutate: async (...args: Parameters<typeof all.mutate>) => {
      await heldUp('mutate');
      return all.mutate(...args);
    },
    list: async () => {
      const read = await all.list();
      await heldUp('list');
      return read;
    },
  };
  const store = {
    bus,
    clock: bus.clock,
    random: bus.random,
    clusterSettings: defaultSettings('spec'),
    nodes: { bucket: bus.bucket<NodeRecord>('nodes'), view: { shows: async () => Promise.resolve(true) } },
    incidents: { bucket: bus.bucket<IncidentRecord>('incidents') },
    alarms: { bucket: bus.bucket<AlarmRecord>('alarms') },
    reservations: { bucket: admission(), view: {} },
    // Its view is behind: it reads the bucket.
    workloads: { bucket, view: { unreadable: new Map(), revision: 0, shows: async () => Promise.resolve(false) } },
  } as unknown as InventoryStore;
  const secrets = new PowerSecrets({ bus } as unknown as ServiceContext);
  const users = { noteRevocation: async () => Promise.resolve() } as unknown as AgentUsers;
  const revocations = { forgotten: () => undefined } as unknown as RevocationService;
  const edits = new EditsService(store, secrets, users);
  const reports = { unheardMs: () => Infinity, of: () => undefined } as unknown as ReportsView;
  const power = { reasonOf: () => undefined } as unknown as PowerQuarantine;
  const removable = new RemovableNodes(store, reports, power);
  const service = { offered: () => ['ansible'] } as unknown as ServiceView;
  const names = { of: () => undefined } as unknown as KnownNames;
  return {
    workloads: new WorkloadService(store, new GenerationFloor(store), new ReservationBook(store), reports),
    deletions: new DeletionsService(store, edits, revocations, removable),
    replacements: new ReplacementService(store, service, edits, revocations, removable, names),
  };
}

const put = (name: string, on: string) => ({ ...by, name, workload: { desired: 'running' as const, node: on } });

describe('a workload that is assigned to a node as that goes', () => {
  it('is refused, and leaves nothing behind, where the node is gone by then', async () => {
    await create('1');
    const other = replica('mutate', () => gateway().call('inventory.nodes.delete', { ...by, name: 'a-1' }));
    await expect(other.workloads.put(put('db', 'a-1'))).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    expect(await workloads().get('db')).toBeUndefined();
  });

  it('stays as it was before, but for its generation, by which the node may have known it', async () => {
    await create('2');
    await gateway().call('inventory.workloads.put', { ...by, name: 'web', workload: { desired: 'stopped' } });
    const was = (await workloads().get('web'))?.value;
    const other = replica('mutate', () => gateway().call('inventory.nodes.delete', { ...by, name: 'a-2' }));
    await expect(other.workloads.put(put('web', 'a-2'))).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    const is = (await workloads().get('web'))?.value;
    expect(is).toEqual({ ...was, generation: is?.generation });
    expect(is?.generation).toBeGreaterThan((was?.generation ?? 0) + 1);
  });

  it('goes on by a generation that nobody has used', async () => {
    await create('1');
    await gateway().call('inventory.workloads.put', put('db', 'a-1'));
    expect((await workloads().get('db'))?.value.assignment?.generation).toBeGreaterThan(1);
  });

  it.each(['decommission', 'resetup'] as const)('is refused where a %s began to clean it up', async (kind) => {
    const serial = kind === 'resetup' ? '3' : '4';
    await create(serial);
    const name = `a-${serial}`;
    const hold = { job: 'job-1', kind, generation: 1, at: 1 };
    const holds = (held: Reservations['held']) =>
      admission().mutate(RESERVATIONS_KEY, (r) => ({ pending: {}, generation: 1, ...r?.value, held }));
    const other = replica('mutate', () => holds({ [name]: hold }));
    const refused = expect.objectContaining({
      code: 'NODE_RESERVED',
      facts: expect.objectContaining({ job: 'job-1' }),
    });
    await expect(other.workloads.put(put('mail', name))).rejects.toEqual(refused);
    expect(await workloads().get('mail')).toBeUndefined();
    await expect(gateway().call('inventory.workloads.put', put('mail', name))).rejects.toMatchObject({
      code: 'NODE_RESERVED',
    });
    await holds({});
  });
});

describe('a node that goes as a workload is assigned to it', () => {
  const refused = { code: 'WORKLOADS_PRESENT', facts: { workloads: ['dns'] } };

  it('stays', async () => {
    await create('5');
    const other = replica('list', () => gateway().call('inventory.workloads.put', put('dns', 'a-5')));
    await expect(other.deletions.delete('a-5', 'spec')).rejects.toMatchObject(refused);
    expect((await gateway().call('inventory.nodes.get', { name: 'a-5' })).name).toBe('a-5');
  });

  it('stays where it was to be replaced', async () => {
    await workloads().delete('dns');
    await create('6');
    const other = replica('list', () => gateway().call('inventory.workloads.put', put('dns', 'a-6')));
    await expect(other.replacements.replace('a-6', { serial: '7' }, 'spec')).rejects.toMatchObject(refused);
    expect((await gateway().call('inventory.nodes.get', { name: 'a-6' })).name).toBe('a-6');
    await expect(gateway().call('inventory.nodes.get', { name: 'a-7' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
  });
});

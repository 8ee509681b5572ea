import { describe, expect, it } from 'vitest';
import { READS, type IncidentRecord, type NodeRecord } from '#contracts';
import type { FreshIdentityService } from '../identity/fresh-identity.service.js';
import type { PowerQuarantine } from '../power/power-quarantine.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { foundDead } from '../testing/investigation.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aDevice, aNode, anIncident, aVerdict, aWorkload, enforced } from '../testing/records.js';
import type { VerdictNow } from '../verdicts/verdict-now.js';
import type { GateFactsService } from './gate-facts.js';
import type { IncidentService } from './incident.service.js';
import type { OperatorOrders } from './operator-orders.service.js';
import { PowerOrders } from './power-orders.service.js';
import { RecheckService } from './recheck.service.js';

const node: NodeRecord = aNode('n-1', {
  ...{ powerLevels: [[aDevice()]], cordon: { by: 'eve', reason: 'memory', at: 1 } },
  verdict: { verdict: 'UP', networks: [], epoch: 1, seq: 1, at: 1 },
});

/** Workloads by a view that has not seen the last write, and will not in time. */
function behindItsBucket(isAssigned: boolean): MemoryStore {
  const store = new MemoryStore();
  Object.assign(store.clusterSettings, enforced());
  store.settings.set('cluster', enforced());
  store.nodes.set('n-1', node);
  const assignment = { node: isAssigned ? 'n-1' : 'n-2', generation: 1 };
  store.workloads.set('db', aWorkload('db', { generation: 1, assignment }));
  const bucket = { ...store.workloads.bucket, lastRevision: async () => Promise.resolve(9) };
  const shows = async (): Promise<boolean> => Promise.resolve(false);
  const view = { live: false, entries: () => [], revision: 1, unreadable: new Map(), shows };
  Object.assign(store, { workloads: { bucket, view } });
  return store;
}

describe('work that another inventory has just assigned to a node', () => {
  const facts = { fencersOutside: () => 1 } as unknown as GateFactsService;
  const orders = (store: MemoryStore): PowerOrders => {
    const opened = anIncident('n-1', { drill: { at: 1, level: 0 } });
    const operator = { fence: async () => Promise.resolve({ incident: opened, gates: [] }) };
    const quarantine = { reason: () => undefined };
    return new PowerOrders(
      ...([store as unknown as InventoryStore, operator as unknown as OperatorOrders, facts] as const),
      quarantine as unknown as PowerQuarantine,
    );
  };
  const by = { by: 'eve', name: 'n-1', reason: 'memory' };

  it('stands against a shutdown and a drill, also where the view does not show it', async () => {
    const here = orders(behindItsBucket(true));
    await expect(here.act({ ...by, action: 'soft' })).rejects.toMatchObject({ code: 'WORKLOADS_PRESENT' });
    await expect(here.drill(by)).rejects.toMatchObject({ code: 'WORKLOADS_PRESENT' });
    const elsewhere = orders(behindItsBucket(false));
    expect(await elsewhere.drill(by)).toMatchObject({ drill: { at: 1, level: 0 } });
    expect(await elsewhere.act({ ...by, action: 'soft' })).toMatchObject({ action: 'soft' });
  });

  it('is not asked for where it stands against nothing: a store that cannot be read stops no power-off', async () => {
    const store = behindItsBucket(true);
    store.workloads.bucket.list = async () => Promise.reject(new Error('no answer'));
    expect(await orders(store).act({ ...by, action: 'off' })).toMatchObject({ action: 'off' });
    await expect(orders(store).act({ ...by, action: 'soft' })).rejects.toThrow('no answer');
  });

  it('stops a drill before its first command', async () => {
    const drilled = async (isAssigned: boolean): Promise<string> => {
      const i: IncidentRecord = anIncident('n-1', { phase: 'fencing', cause: 'manual', drill: { at: 1, level: 0 } });
      const sut = new RecheckService(
        behindItsBucket(isAssigned) as unknown as InventoryStore,
        { get: async () => Promise.resolve({ ...i, revision: 3 }) } as unknown as IncidentService,
        { of: async () => Promise.resolve(aVerdict('n-1')) } as unknown as VerdictNow,
        { gather: async () => Promise.resolve(foundDead(node, { incident: i }).gates) } as unknown as GateFactsService,
        { of: async () => Promise.resolve(undefined) } as unknown as FreshIdentityService,
      );
      const asked = { node: 'n-1', incident: i.id, epoch: 1, reads: READS.powerRecords };
      return (await sut.recheck(asked)).reason;
    };
    const why = 'db was assigned to it since the drill was ordered.';
    expect(await drilled(true)).toBe(why);
    expect(await drilled(false).catch(String)).not.toBe(why);
  });
});

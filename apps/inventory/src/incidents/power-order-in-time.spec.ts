import { expect, it } from 'vitest';
import type { IncidentRecord, NodeRecord, PowerCommand } from '#contracts';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aDevice, aNode, anIncident, enforced } from '../testing/records.js';
import type { GateFactsService } from './gate-facts.js';
import type { OperatorOrders } from './operator-orders.service.js';
import { PowerOrders } from './power-orders.service.js';

const node = aNode('n-1', { powerLevels: [[aDevice()]] });

/** What the store has of the node from the compare-and-set on, and of its incident: no view shows it yet. */
interface Unseen {
  node?: NodeRecord | 'deleted';
  incident?: IncidentRecord;
}

function ordered({ node: late, incident }: Unseen): Promise<unknown> {
  const store = new MemoryStore();
  Object.assign(store.clusterSettings, enforced());
  store.nodes.set('n-1', node);
  const quarantine = new PowerQuarantine(store.asStore);
  const { mutate } = store.incidents.bucket;
  store.incidents.bucket.mutate = async (key, fn) => {
    const entry = late === 'deleted' ? undefined : late && { key, value: late, revision: 7 };
    if (late !== undefined) store.nodes.bucket.get = async () => Promise.resolve(entry);
    if (incident === undefined) return mutate(key, fn);
    const value = await fn({ key, value: incident, revision: 7 });
    return { value, revision: 8, changed: true };
  };
  const facts = { fencersOutside: () => 1 } as unknown as GateFactsService;
  const sut = new PowerOrders(store.asStore, {} as OperatorOrders, facts, quarantine);
  return sut.act({ by: 'eve', name: 'n-1', action: 'on', reason: 'memory' });
}

it('a power order is decided by the node as it is when it is written', async () => {
  expect(await ordered({})).toMatchObject({ action: 'on' });
  const edited = ordered({ node: { ...node, powerLevels: [] } });
  await expect(edited).rejects.toMatchObject({ code: 'FENCING_REFUSED' });
  const deleted = ordered({ node: 'deleted' });
  await expect(deleted).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
});

it('nothing is powered on whose power-off may still take effect, though the view does not show that yet', async () => {
  const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
  const late = ordered({ incident: anIncident('n-1', { phase: 'survived', commands: [off] }) });
  await expect(late).rejects.toMatchObject({ code: 'NODE_BUSY', message: expect.stringContaining('take effect') });
});

import { expect, it } from '@jest/globals';
import type { IncidentRecord } from '#contracts';
import type { AuditService } from '../store/audit.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { anIncident } from '../testing/records.js';
import { IncidentService } from './incident.service.js';

const audited: string[] = [];
const audit = { done: async (...words: string[]) => Promise.resolve(void audited.push(words.join(' '))) };

/** Opens 'new' where this incident stands. */
async function open(
  was: IncidentRecord | undefined,
  keeps?: (over: IncidentRecord) => boolean,
): Promise<IncidentRecord> {
  const bucket = {
    mutate: async (_node: string, fn: (current?: { value: IncidentRecord }) => IncidentRecord | undefined) => {
      const next = fn(was && { value: was });
      return Promise.resolve({ value: next ?? was, revision: 1, changed: next !== undefined });
    },
  };
  const sut = new IncidentService(
    { incidents: { bucket } } as unknown as InventoryStore,
    audit as unknown as AuditService,
  );
  const { incident, joined } = await sut.openOrJoin(anIncident('n-1', { id: 'new' }), keeps && { keeps });
  expect(joined).toBe(incident.id !== 'new');
  return incident;
}
const opened = async (...of: Parameters<typeof open>): Promise<string> => (await open(...of)).id;

it('an incident joins one that is open, and replaces one that is over unless that is to be kept', async () => {
  const over = anIncident('n-1', { id: 'over', phase: 'closed' });
  expect(await opened(undefined)).toBe('new');
  expect(await opened(anIncident('n-1', { id: 'open' }))).toBe('open');
  expect(await opened(over)).toBe('new');
  expect(await opened(over, (i) => i.id !== 'over')).toBe('new');
  expect(await opened(over, (i) => i.id === 'over')).toBe('over');
});

it('an order that was still to be carried out ends visibly, also where nobody has ordered the incident', async () => {
  const order = { action: 'soft' as const, by: 'eve', reason: 'memory', at: 1, after: 0 };
  const over = anIncident('n-1', { id: 'over', phase: 'closed', order });
  const text =
    'eve had ordered power soft (memory), which is void: superseded by the incident of the node: all observers accuse';
  expect((await open(over)).steps).toMatchObject([{ detail: text }]);
  expect(audited).toEqual([`muster power-soft-superseded n-1 ${text}`]);
  await open(over, () => true);
  await open({ ...over, order: { ...order, done: true, ok: true } });
  expect(audited).toHaveLength(1);
});

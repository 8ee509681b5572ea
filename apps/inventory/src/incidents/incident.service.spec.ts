import { expect, it } from '@jest/globals';
import type { IncidentRecord } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import { anIncident } from '../testing/records.js';
import { IncidentService } from './incident.service.js';

/** Opens 'new' where this incident stands. @returns the id that stands then */
async function opened(was: IncidentRecord | undefined, keeps?: (over: IncidentRecord) => boolean): Promise<string> {
  const bucket = {
    mutate: async (_node: string, fn: (current?: { value: IncidentRecord }) => IncidentRecord | undefined) => {
      const next = fn(was && { value: was });
      return Promise.resolve({ value: next ?? was, revision: 1, changed: next !== undefined });
    },
  };
  const sut = new IncidentService({ incidents: { bucket } } as unknown as InventoryStore);
  const { incident, joined } = await sut.openOrJoin(anIncident('n-1', { id: 'new' }), keeps && { keeps });
  expect(joined).toBe(incident.id !== 'new');
  return incident.id;
}

it('an incident joins one that is open, and replaces one that is over unless that is to be kept', async () => {
  const over = anIncident('n-1', { id: 'over', phase: 'closed' });
  expect(await opened(undefined)).toBe('new');
  expect(await opened(anIncident('n-1', { id: 'open' }))).toBe('open');
  expect(await opened(over)).toBe('new');
  expect(await opened(over, (i) => i.id !== 'over')).toBe('new');
  expect(await opened(over, (i) => i.id === 'over')).toBe('over');
});

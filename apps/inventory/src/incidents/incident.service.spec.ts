import { expect, it } from 'vitest';
import type { IncidentRecord } from '#contracts';
import { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { anIncident } from '../testing/records.js';
import { IncidentService } from './incident.service.js';

const audited: string[] = [];
/** Tells nothing before it is let. */
let letTell: Promise<void> = Promise.resolve();
const audit = { done: (...words: string[]) => letTell.then(() => void audited.push(words.join(' '))) };

/** Resolves when nothing is left to tell. */
let rest: () => Promise<void>;

/** Opens 'new' where this incident stands. */
async function open(
  was: IncidentRecord | undefined,
  keeps?: (over: IncidentRecord) => boolean,
  joins?: (open: IncidentRecord) => IncidentRecord | undefined,
): Promise<IncidentRecord> {
  const bucket = {
    mutate: async (_node: string, fn: (current?: { value: IncidentRecord }) => IncidentRecord | undefined) => {
      const next = fn(was && { value: was });
      return Promise.resolve({ value: next ?? was, revision: 1, changed: next !== undefined });
    },
  };
  const store = { incidents: { bucket } } as unknown as InventoryStore;
  const after = new AfterAnswer(store);
  rest = () => after.onApplicationShutdown();
  const sut = new IncidentService(store, audit as unknown as AuditService, after);
  const { incident, joined } = await sut.openOrJoin(anIncident('n-1', { id: 'new' }), {
    ...(keeps && { keeps }),
    ...(joins && { joins }),
  });
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

it('what joins an open incident is written into it at once: in between it could be ended, and the order with it', async () => {
  const joins = (i: IncidentRecord): IncidentRecord => ({ ...i, reason: 'smoke' });
  expect(await open(anIncident('n-1', { id: 'open' }), undefined, joins)).toMatchObject({
    id: 'open',
    reason: 'smoke',
  });
  const over = anIncident('n-1', { id: 'over', phase: 'closed' });
  const opened = await open(over, undefined, joins);
  expect(opened.id).toBe('new');
  expect(opened.reason).not.toBe('smoke');
  expect((await open(over, () => true, joins)).reason).not.toBe('smoke');
});

it('an order that was still to be carried out ends visibly, also where nobody has ordered the incident', async () => {
  const order = { action: 'soft' as const, by: 'eve', reason: 'memory', at: 1, after: 0 };
  const over = anIncident('n-1', { id: 'over', phase: 'closed', order });
  const text =
    'eve had ordered power soft (memory), which is void: superseded by the incident of the node: all observers report it down';
  expect((await open(over)).steps).toMatchObject([{ detail: text }]);
  await rest();
  expect(audited).toEqual([`muster power-soft-superseded n-1 ${text}`]);
  await open(over, () => true);
  await open({ ...over, order: { ...order, done: true, ok: true } });
  await rest();
  expect(audited).toHaveLength(1);
});

it('an incident that takes the place of an order stands without waiting for the audit', async () => {
  audited.length = 0;
  let told: () => void = () => undefined;
  letTell = new Promise((resolve) => (told = resolve));
  const order = { action: 'on' as const, by: 'eve', reason: 'memory', at: 1, after: 0 };
  expect(await opened(anIncident('n-1', { id: 'over', phase: 'closed', order }))).toBe('new');
  expect(audited).toEqual([]);
  told();
  await rest();
  expect(audited).toEqual([expect.stringContaining('muster power-on-superseded n-1 ')]);
});

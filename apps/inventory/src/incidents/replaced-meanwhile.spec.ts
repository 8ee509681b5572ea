import { beforeEach, describe, expect, it } from 'vitest';
import type { IncidentRecord } from '#contracts';
import type { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import { foundDead } from '../testing/investigation.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aNode, anIncident, aVerdict } from '../testing/records.js';
import type { VerdictNow } from '../verdicts/verdict-now.js';
import type { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { OperatorOrders } from './operator-orders.service.js';
import type { PowerEvidence } from './power-evidence.js';

describe('an order about an incident that another one replaces meanwhile', () => {
  let store: MemoryStore;
  let sut: OperatorOrders;
  const seen = anIncident('n-1', { id: 'seen', phase: 'suppressed', gate: 'BRAKE' });
  const next = anIncident('n-1', { id: 'next', phase: 'suppressed', gate: 'BRAKE' });
  const word = { by: 'eve', node: 'n-1', reason: 'x' };
  /** Right before the write that rests on the incident that was seen. */
  const meanwhile = (i: IncidentRecord | undefined): void => {
    const { bucket } = store.incidents;
    const mutate = bucket.mutate.bind(bucket);
    bucket.mutate = async (key, fn) => {
      store.incidents.set('n-1', i);
      return mutate(key, fn);
    };
  };
  const orders: [string, () => Promise<unknown>][] = [
    ['release', () => sut.release(word)],
    ['cancel', () => sut.cancel(word)],
    ['confirm', () => sut.confirm({ ...word, force: true })],
  ];

  beforeEach(() => {
    store = new MemoryStore();
    const node = aNode('n-1');
    store.nodes.set('n-1', node);
    store.incidents.set('n-1', seen);
    const facts = foundDead(node, { verdict: aVerdict('n-1') }).gates;
    const gateFacts = {
      gather: async () => Promise.resolve(facts),
      fencersOutside: () => undefined,
      sharedPlace: () => undefined,
    };
    sut = new OperatorOrders(
      store.asStore,
      new IncidentService(store.asStore, {} as AuditService, {} as AfterAnswer),
      gateFacts as unknown as GateFactsService,
      { of: async () => Promise.resolve(facts.verdict) } as unknown as VerdictNow,
      {} as PowerEvidence,
    );
  });

  it.each(orders)('is refused, and leaves the new one alone: %s', async (_what, order) => {
    meanwhile(next);
    await expect(order()).rejects.toMatchObject({
      code: 'INCIDENT_STATE',
      message: expect.stringContaining('muster incident get n-1') as string,
    });
    expect(store.incidents.content).toEqual({ 'n-1': next });
  });

  it.each(orders)('is carried out where none does: %s', async (_what, order) => {
    expect(await order()).toMatchObject({ id: 'seen' });
    expect(store.incidents.content).not.toEqual({ 'n-1': seen });
  });

  it.each(orders)('is refused where the incident is gone: %s', async (_what, order) => {
    meanwhile(undefined);
    await expect(order()).rejects.toMatchObject({ code: 'INCIDENT_UNKNOWN' });
  });
});

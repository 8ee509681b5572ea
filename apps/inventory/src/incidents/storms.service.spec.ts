import { expect, it } from 'vitest';
import { PERMITS_KEY } from '#contracts';
import type { AuditService } from '../store/audit.service.js';
import { FencingWorld } from '../testing/fencing-world.js';
import { aBeacon, aNode, anIncident } from '../testing/records.js';
import type { OperatorOrders } from './operator-orders.service.js';
import { StormsService } from './storms.service.js';

it('a storm is shown through a gap, and nobody judges its members by it: one of them may be back', async () => {
  const { store, facts, permits, incidents } = new FencingWorld();
  store.nodes.set('n-1', aNode('n-1'));
  store.incidents.set('n-1', anIncident('n-1', { phase: 'suppressed', gate: 'BRAKE' }));
  const trip = { id: 's-1', cause: 'brake' as const, at: 1, members: { 'n-1': {} } };
  store.permits.set(PERMITS_KEY, { granted: [], trips: [trip] });
  store.detector.hear(JSON.stringify(aBeacon({ notUp: { 'n-1': { verdict: 'DOWN', seq: 1 } } })));
  const sut = new StormsService(
    ...([store.asStore, facts, permits, incidents, {} as OperatorOrders, {} as AuditService] as const),
  );
  const release = { by: 'eve', id: 's-1', reason: 'seen dark' };
  store.nodes.live = false;
  expect(sut.list()).toMatchObject([{ id: 's-1', rest: ['n-1'] }]);
  await expect(sut.release(release)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  expect(store.permits.content[PERMITS_KEY]?.trips).toEqual([trip]);
  store.nodes.live = true;
  expect(await sut.release(release)).toEqual({ nodes: [{ node: 'n-1', ok: true }] });
});

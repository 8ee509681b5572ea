import { expect, it } from 'vitest';
import { RESERVATIONS_KEY, type Hold, type NodeRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { fleetSource } from '../../testing/planned.js';
import { aNode, anIncident } from '../../testing/records.js';
import { whyNotStart, whyOut } from './candidate-nodes.js';

function fleet(hold: Hold, node: Partial<NodeRecord> = {}): Fleet {
  const store = new MemoryStore();
  store.detector.sees = true;
  store.nodes.set('n-1', aNode('n-1', node));
  store.reservations.set(RESERVATIONS_KEY, { held: { 'n-1': hold }, pending: {}, generation: 1 });
  return fleetSource(store).now();
}
const at = { generation: 1, at: 1 };

it('a claim keeps a node from being given more, and lets what is assigned there start', () => {
  const claimed = fleet({ ...at, claim: 'c' });
  expect(whyOut(claimed, 'n-1')).toBe('held by c');
  expect(whyNotStart(claimed, 'n-1')).toBeUndefined();
  const cordoned = fleet({ ...at, claim: 'c' }, { cordon: { by: 'ann', at: 1, reason: 'its fan' } });
  expect(whyNotStart(cordoned, 'n-1')).toBe('cordoned by ann: its fan');
});

it('a job or an edit keeps both away, on a claimed node too', () => {
  for (const hold of [{ job: 'j' }, { edit: 'e' }, { claim: 'c', job: 'j' }, { claim: 'c', edit: 'e' }])
    expect(whyNotStart(fleet({ ...at, ...hold }), 'n-1')).toMatch(/^held by [cje]$/);
});

it('nothing is placed or started where an operator has ordered the system to shut down, uncordoned or not', () => {
  const store = new MemoryStore();
  store.detector.sees = true;
  store.nodes.set('n-1', aNode('n-1', { bootId: 'b-1' }));
  const order = { action: 'soft' as const, by: 'eve', reason: 'memory', at: 1, after: 0, bootId: 'b-1' };
  store.incidents.set('n-1', anIncident('n-1', { phase: 'closed', order }));
  const why = 'eve ordered its system to shut down: memory';
  expect(whyOut(fleetSource(store).now(), 'n-1')).toBe(why);
  expect(whyNotStart(fleetSource(store).now(), 'n-1')).toBe(why);
});

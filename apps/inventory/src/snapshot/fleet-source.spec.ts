import { expect, it } from 'vitest';
import { MemoryStore } from '../testing/memory-store.js';
import { aNode } from '../testing/records.js';
import { FleetSource } from './fleet-source.js';

it('shows what stood in the store at its moment, and nothing that came later', () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  const fleets = new FleetSource(store.asStore, store.reports);
  const fleet = fleets.now();
  store.nodes.set('n-1', aNode('n-1', { state: 'Disappeared' }));
  store.nodes.set('n-2', aNode('n-2'));
  store.nodes.live = false;
  expect(fleet.nodes.get('n-1')?.value.state).toBe('Discovered');
  expect([fleet.nodes.get('n-2'), fleet.nodes.live, fleet.live]).toEqual([undefined, true, true]);
  expect(fleets.now().nodes.list).toHaveLength(2);
  expect(fleets.now().live).toBe(false);
});

it('copies nothing: between two changes every snapshot has the same records', () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  const fleets = new FleetSource(store.asStore, store.reports);
  const before = fleets.now();
  store.jobs.set('j', { id: 'j' } as never);
  expect(fleets.now().nodes).toBe(before.nodes);
  expect(fleets.now().jobs).not.toBe(before.jobs);
});

it('shows what was read in the place of what its view shows', async () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  store.nodes.set('n-2', aNode('n-2'));
  const behind = {
    ...store,
    nodes: { view: store.nodes.view, bucket: { get: async () => Promise.resolve(undefined) } },
  };
  const fleet = await new FleetSource(behind as never, store.reports).read({ nodes: ['n-1'] });
  expect(fleet.nodes.list.map((e) => e.key)).toEqual(['n-2']);
  expect(fleet.nodes.get('n-1')).toBeUndefined();
});

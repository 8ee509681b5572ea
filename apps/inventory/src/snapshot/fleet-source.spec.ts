import { expect, it } from 'vitest';
import { BEACON_FRESH_MS } from '#contracts';
import { MemoryStore } from '../testing/memory-store.js';
import { fleetSource } from '../testing/planned.js';
import { aBeacon, aNode, anIncident, aReport, aWorkload } from '../testing/records.js';

it('shows what stood in the store at its moment, and nothing that came later', () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  const fleets = fleetSource(store);
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
  const fleets = fleetSource(store);
  const before = fleets.now();
  store.jobs.set('j', { id: 'j' } as never);
  expect(fleets.now().nodes).toBe(before.nodes);
  expect(fleets.now().jobs).not.toBe(before.jobs);
});

it('is one at one moment, so that what is made of it is made once', () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  store.clock.now = 5_000;
  store.detector.hear(JSON.stringify(aBeacon({ seq: 1 })));
  const fleets = fleetSource(store);
  const fleet = fleets.now();
  expect(fleets.now()).toBe(fleet);
  store.clock.now = 5_001;
  expect(fleets.now()).not.toBe(fleet);
});

it('shows what was read in the place of what its view shows', async () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  store.nodes.set('n-2', aNode('n-2'));
  store.nodes.bucket.get = async () => Promise.resolve(undefined);
  const fleet = await fleetSource(store).read({ nodes: ['n-1'] });
  expect(fleet.nodes.list.map((e) => e.key)).toEqual(['n-2']);
  expect(fleet.nodes.get('n-1')).toBeUndefined();
});

it('shows no record that was read before one that its view shows by now', async () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  const before = { key: 'n-1', value: aNode('n-1'), revision: 0 };
  store.nodes.bucket.get = async () => Promise.resolve(before);
  store.nodes.set('n-1', aNode('n-1', { state: 'Disappeared' }));
  const fleet = await fleetSource(store).read({ nodes: ['n-1'] });
  expect(fleet.nodes.get('n-1')?.value.state).toBe('Disappeared');
});

it('has what the detector had said of itself by then, and for how long it is silent', () => {
  const store = new MemoryStore();
  const fleets = fleetSource(store);
  const unheard = fleets.now().detector;
  expect(unheard).toMatchObject({ beacon: undefined, silentFor: 0, fresh: false, sighted: false, sightedMs: 0 });
  store.clock.now = 5_000;
  expect(fleets.now().detector.silentFor).toBe(5_000);
  store.detector.hear(JSON.stringify(aBeacon({ seq: 1 })));
  const heard = fleets.now().detector;
  store.clock.now = 6_000;
  store.detector.hear(JSON.stringify(aBeacon({ seq: 2 })));
  expect(heard).toMatchObject({ beacon: { seq: 1 }, silentFor: 0, fresh: true, sighted: true, settled: false });
  expect(fleets.now().detector).toMatchObject({ beacon: { seq: 2 }, settled: true, sightedMs: 1_000 });
  store.clock.now = 6_000 + BEACON_FRESH_MS;
  expect(fleets.now().detector).toMatchObject({
    beacon: { seq: 2 },
    silentFor: BEACON_FRESH_MS,
    fresh: false,
    sighted: false,
    sightedMs: 1_000,
  });
  expect(unheard.beacon).toBeUndefined();
});

it('tells of the end of a blindness by missing reports', () => {
  const store = new MemoryStore();
  const fleets = fleetSource(store);
  const blind = { sighted: false, blindBy: 'reports' } as const;
  store.detector.hear(JSON.stringify(aBeacon({ seq: 1, ...blind })));
  expect(fleets.now().detector).toMatchObject({ fresh: true, sighted: false, blindnessEnded: undefined });
  store.detector.hear(JSON.stringify(aBeacon({ seq: 2 })));
  expect(fleets.now().detector.blindnessEnded).toEqual({ epoch: 1, seq: 2 });
});

it('shows every workload that is there where all of them are read', async () => {
  const store = new MemoryStore();
  store.workloads.set('gone', aWorkload('gone'));
  store.workloads.bucket.list = async () => Promise.resolve([{ key: 'new', value: aWorkload('new'), revision: 9 }]);
  const fleets = fleetSource(store);
  expect((await fleets.read({})).workloads.list.map((e) => e.key)).toEqual(['gone']);
  expect((await fleets.read({ workloads: true })).workloads.list.map((e) => e.key)).toEqual(['new']);
});

it('knows how long ago an off was seen, and not of one that was given before', () => {
  const store = new MemoryStore();
  const off = { epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 };
  const fencing = anIncident('n-1', { phase: 'fencing', commands: [{ ...off, n: 1 }] });
  store.incidents.set('n-1', fencing);
  const fleets = fleetSource(store);
  const again = { ...fencing, commands: [...fencing.commands, { ...off, n: 2 }] };
  store.clock.now = 100;
  store.incidents.set('n-1', again);
  store.clock.now = 350;
  expect(fleets.now().offsAgo(again)).toEqual([undefined, 250]);
});

it('has what a node has said last, however long ago, and what it ran then in the boot of its record', () => {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1'));
  const fleets = fleetSource(store);
  const workloads = [{ name: 'db', generation: 1, gated: true }];
  store.reports.hear(aReport('n-1', { workloads }), 0);
  store.clock.now = 60_000;
  const fleet = fleets.now();
  expect([fleet.reports.size, fleet.heard('n-1')?.ago, fleet.heard('n-2')]).toEqual([0, 60_000, undefined]);
  expect(fleet.lastWord('n-1')).toMatchObject({ workloads });
  store.nodes.set('n-1', aNode('n-1', { bootId: 'another', ungated: ['db'] }));
  const anew = fleets.now().lastWord('n-1');
  expect([anew?.workloads, anew?.mayStartByItself('db'), anew?.mayStartByItself('web')]).toEqual([
    undefined,
    true,
    false,
  ]);
  expect(fleets.now().lastWord('n-9')).toBeUndefined();
});

import { expect, it } from 'vitest';
import type { IncidentRecord } from '#contracts';
import { MemoryStore } from '../testing/memory-store.js';
import { odd } from '../testing/odd.js';
import { incidentAges } from '../testing/planned.js';
import { anIncident } from '../testing/records.js';

const off = (n: number) => ({ n, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 });
const fencing = (offs: number[], o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n-1', { phase: 'fencing', commands: offs.map(off), ...o });

it('knows how old an off is that was given while it looked, and of no other', () => {
  const store = new MemoryStore();
  store.incidents.set('n-1', fencing([1]));
  const sut = incidentAges(store);
  store.clock.now = 100;
  store.incidents.set('n-1', fencing([1, 2]));
  store.clock.now = 150;
  store.incidents.set('n-1', fencing([1, 2, 3]));
  store.clock.now = 400;
  expect(sut.offsAgoMs(fencing([1, 2, 3]))).toEqual([undefined, 300, 250]);
  expect(sut.offsAgoMs(fencing([1, 2, 3], { devicesAfter: 2 }))).toEqual([250]);
});

it('knows how long it has seen an incident and its proof, unless they were there before it', () => {
  const store = new MemoryStore();
  store.incidents.set('n-1', fencing([], { id: 'older' }));
  const sut = incidentAges(store);
  const proven = (id: string, at: number): IncidentRecord => fencing([], { id, proof: { kind: 'read-back', at } });
  const ages = (i: IncidentRecord): unknown => [sut.openedAgoMs(i), sut.provenAgoMs(i)];
  store.clock.now = 100;
  store.incidents.set('n-1', proven('older', 1));
  store.clock.now = 150;
  expect(ages(proven('older', 1))).toEqual([undefined, 50]);
  expect(ages(fencing([], { id: 'older' }))).toEqual([undefined, undefined]);
  store.incidents.set('n-1', proven('older', 2));
  expect(ages(proven('older', 2))).toEqual([undefined, 0]);
  store.incidents.set('n-1', fencing([], { id: 'newer' }));
  store.clock.now = 200;
  expect(ages(fencing([], { id: 'newer' }))).toEqual([50, undefined]);
});

it('knows the others of one of which nobody can say what was given, and fails where that is asked of it', () => {
  const store = new MemoryStore();
  store.incidents.set('old', odd(anIncident('old'), 'commands'));
  const sut = incidentAges(store);
  expect(() => store.incidents.set('n-2', odd(anIncident('n-2', { id: 'i-odd' }), 'commands'))).not.toThrow();
  store.incidents.set('n-1', fencing([1]));
  store.clock.now = 100;
  expect(sut.offsAgoMs(fencing([1]))).toEqual([100]);
  expect(sut.openedAgoMs(anIncident('n-2', { id: 'i-odd' }))).toBe(100);
  expect(() => sut.offsAgoMs(odd(anIncident('n-2', { id: 'i-odd' }), 'commands'))).toThrow('cannot be understood');
});

it('forgets those that stand in no record any more', () => {
  const store = new MemoryStore();
  store.incidents.set('n-1', fencing([1]));
  const sut = incidentAges(store);
  store.incidents.set('n-1', fencing([1, 2]));
  for (const gone of [undefined, fencing([], { id: 'another' }), fencing([1, 2], { devicesAfter: 2 })]) {
    store.incidents.set('n-1', gone);
    store.incidents.set('n-1', fencing([1, 2]));
    store.clock.now += 100;
    expect(sut.offsAgoMs(fencing([1, 2]))).toEqual([100, 100]);
  }
});

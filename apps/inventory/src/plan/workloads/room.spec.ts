import { expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import type { Bar } from '#domain/workload/bar.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { fleetSource } from '../../testing/planned.js';
import { aNode, aReport, aWorkload } from '../../testing/records.js';
import { withoutRoom } from './room.js';

const nobody = new Map<string, Bar>();

/** Work that shall run, of which none is assigned, and one node that has room for a weight of 1. */
function world(names: string[], node: Partial<NodeRecord> = {}) {
  const store = new MemoryStore();
  store.detector.sees = true;
  store.nodes.set('n-1', aNode('n-1', { vars: { capacity: 1 }, ...node }));
  for (const name of names) store.workloads.set(name, aWorkload(name));
  const fleets = fleetSource(store);
  const hear = (name: string, runs: string[]): void =>
    store.reports.hear(aReport(name, { workloads: runs.map((w) => ({ name: w, generation: 1 })) }), 0);
  return { store, hear, without: (barred = nobody) => [...withoutRoom(fleets.now(), barred)] };
}

it('is without room what no node in service can take, after what is placed before it', () => {
  const { hear, without } = world(['a', 'b']);
  hear('n-1', []);
  expect(without()).toEqual(['b']);
});

it('is without room on a node that is out of service, or does not say what it runs', () => {
  const cordoned = world(['a'], { cordon: { by: 'ann', at: 1, reason: 'its fan' } });
  cordoned.hear('n-1', []);
  expect(cordoned.without()).toEqual(['a']);
  const mute = world(['a']);
  mute.hear('n-2', []);
  expect(mute.without()).toEqual(['a']);
});

it('is not a matter of room where it is barred, assigned, not to run, or seen somewhere', () => {
  const { store, hear, without } = world(['barred', 'seen', 'stopped', 'there'], { vars: { capacity: 0 } });
  store.workloads.set('stopped', aWorkload('stopped', { desired: 'stopped' }));
  store.workloads.set('there', aWorkload('there', { generation: 1, assignment: { node: 'n-1', generation: 1 } }));
  hear('n-1', []);
  hear('n-9', ['seen']);
  expect(without(new Map([['barred', { is: 'in-doubt', node: 'n-2' }]]))).toEqual([]);
  expect(without()).toEqual(['barred']);
});

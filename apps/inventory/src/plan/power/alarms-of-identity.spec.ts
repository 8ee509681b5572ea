import { expect, it } from 'vitest';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aDevice, aNode } from '../../testing/records.js';
import { alarmsOfIdentity } from './alarms-of-identity.js';

it('two devices in one place are told of once their names are known, and until then and through a gap nothing is', async () => {
  const store = new MemoryStore();
  const sut = planExecutor(store).drive(alarmsOfIdentity);
  const told = async (): Promise<string[]> => {
    await playRun(sut);
    return Object.entries(store.alarms.content).flatMap(([key, a]) => (a.cleared === undefined ? [key] : []));
  };
  const both = ['power-place=n-1', 'power-place=n-2'];
  store.nodes.set('n-1', aNode('n-1', { powerLevels: [[{ ...aDevice(), address: 'bmc-a' }]] }));
  store.nodes.set('n-2', aNode('n-2', { powerLevels: [[{ ...aDevice(), address: '10.1.0.1' }]] }));
  expect(await told()).toEqual([]);
  store.names.set('bmc-a', ['10.1.0.1']);
  store.alarms.live = false;
  expect(await told()).toEqual([]);
  store.alarms.live = true;
  expect(await told()).toEqual(both);
  store.nodes.set('n-1', undefined);
  store.nodes.live = false;
  expect(await told()).toEqual(both);
  store.nodes.live = true;
  expect(await told()).toEqual([]);
});

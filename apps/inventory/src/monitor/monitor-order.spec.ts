import { afterAll, beforeAll, it } from '@jest/globals';
import type { MonitorNode } from '#contracts';
import { RunningInventory } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2 });
});
afterAll(() => sut?.stop());

const many: MonitorNode[] = Array.from({ length: 400 }, (_, i) => ({
  label: `h${i}`,
  serial: '1',
  addr: `10.1.${Math.floor(i / 250)}.${i % 250}`,
}));
const say = (event: 'discovered' | 'disappeared', nodes = many) =>
  sut.as('gateway').call('inventory.monitor.event', { by: 'spec', event, nodes }, { timeoutMs: 30_000 });
const states = (): Set<string> => new Set(many.map((m) => sut.nodes.get(`${m.label}-1`)?.value.state ?? 'unknown'));

it('applies words in the order in which they were accepted, whichever replica took them and however long they are', async () => {
  const long = say('discovered');
  await until(() => states().size > 1, 'the first of a long list to be known');
  // Accepted by now, and not applied to its last.
  await say('disappeared', many.slice(-1));
  await long;
  await until(() => !states().has('unknown'), 'every node to be known');
  await until(() => sut.nodes.get('h399-1')?.value.state === 'Disappeared', 'the second word, which is the later one');
});

it('takes the last word of a list that names a node twice', async () => {
  const twice = ['10.3.0.1', '10.3.0.2'].map((addr) => ({ label: 'twice', serial: '1', addr }));
  await say('discovered', twice);
  await until(
    () => sut.nodes.get('twice-1')?.value.networks['management']?.address === '10.3.0.2',
    'its second address',
  );
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MonitorNode } from '#contracts';
import { RunningInventory, seen } from '../testing/running-inventory.js';
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
  await seen(sut.nodes, 'h0-1', () => true);
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

it('applies a word to its last node, also where the only replica dies in the middle of it', async () => {
  const mortal = await RunningInventory.start({ mortal: true });
  try {
    const known = (): number => many.filter((m) => mortal.nodes.get(`${m.label}-1`) !== undefined).length;
    const q = { by: 'spec', event: 'discovered', nodes: many } as const;
    // Who told may have no answer any more; what was stored counts.
    const told = mortal.as('gateway').call('inventory.monitor.event', q, { timeoutMs: 2_000 });
    const settled = Promise.allSettled([told]);
    await seen(mortal.nodes, 'h0-1', () => true);
    await mortal.crash('inventory-1', 0);
    await settled;
    expect(known()).toBeLessThan(many.length);
    await mortal.startAnother('inventory-2');
    await until(() => known() === many.length, 'every node to be known');
  } finally {
    await mortal.stop();
  }
});

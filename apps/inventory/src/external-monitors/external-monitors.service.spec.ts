import { expect, it } from 'vitest';
import type { FleetEvents } from '../node-state/fleet-events.js';
import type { NodeService } from '../nodes/node.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { ExternalMonitorsService } from './external-monitors.service.js';

/** A store that keeps every event and applies none, and a clock that says how long it was slept by. */
function byHand() {
  const stored: number[] = [];
  const slept: number[] = [];
  let id = 0;
  const store = {
    bus: {
      emit: async (_kind: string, _key: string, { nodes }: { nodes: unknown[] }) => void stored.push(nodes.length),
    },
    clock: { sleep: async (ms: number) => void slept.push(ms) },
    random: { uuid: () => `id-${id++}` },
  } as unknown as InventoryStore;
  return { sut: new ExternalMonitorsService(store, {} as NodeService, {} as FleetEvents), stored, slept };
}

const list = (count: number): unknown[] =>
  Array.from({ length: count }, (_, n) => ({ label: `n${n}`, serial: '1', addr: '10.0.0.1' }));

it('answers a long list as soon as it is stored, and waits a moment for a short one to be applied', async () => {
  const h = byHand();
  expect((await h.sut.event('spec', 'discovered', list(1001))).nodes).toHaveLength(1001);
  expect([h.stored, h.slept]).toEqual([[1000, 1], []]);
  await h.sut.event('spec', 'discovered', list(100));
  expect([h.stored, h.slept]).toEqual([[1000, 1, 100], [200]]);
});

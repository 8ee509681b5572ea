import { describe, expect, it } from 'vitest';
import type { PowerOrder } from '#contracts';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode, anIncident, aWorkload } from '../../testing/records.js';
import { SWITCHING_LAPSES_MS, powerOrders } from './power-orders.js';

describe('an order to the power of a node that no fencer carries out', () => {
  const order = (at: number): PowerOrder => ({ ...{ action: 'on', by: 'eve', reason: 'memory', after: 0 }, at });
  function world() {
    const store = new MemoryStore();
    store.incidents.set('a', anIncident('a', { phase: 'closed', order: order(1) }));
    const sut = planExecutor(store).drive(powerOrders);
    const round = (now: number): Promise<void> => {
      store.clock.now = now;
      return playRun(sut, { now });
    };
    return { store, round, kept: () => store.incidents.content['a']?.order };
  }

  it('is void after its time, and not before', async () => {
    const { round, kept } = world();
    await round(0);
    await round(SWITCHING_LAPSES_MS - 1);
    expect(kept()).toEqual(order(1));
    await round(SWITCHING_LAPSES_MS);
    expect(kept()).toMatchObject({ done: true, ok: false, detail: 'No fencer carried it out in time.' });
  });

  it('has its time anew where it is another one, also where that comes right before the write', async () => {
    const { store, round, kept } = world();
    await round(0);
    const { mutate } = store.incidents.bucket;
    store.incidents.bucket.mutate = async (key, fn) => {
      store.incidents.set('a', anIncident('a', { phase: 'closed', order: order(2) }));
      return mutate(key, fn);
    };
    await round(SWITCHING_LAPSES_MS);
    expect(kept()).toEqual(order(2));
    store.incidents.bucket.mutate = mutate;
    await round(2 * SWITCHING_LAPSES_MS - 1);
    expect(kept()).toEqual(order(2));
  });
});

describe('an order to shut down', () => {
  const order: PowerOrder = { action: 'soft', by: 'eve', reason: 'memory', at: 1, after: 0 };
  const cordon = { reason: 'memory', by: 'eve', at: 1 };
  function world() {
    const store = new MemoryStore();
    store.nodes.set('a', aNode('a', { cordon }));
    store.incidents.set('a', anIncident('a', { phase: 'closed', order }));
    const sut = planExecutor(store).drive(powerOrders);
    return { store, round: () => playRun(sut, { now: 0 }), kept: () => store.incidents.content['a']?.order };
  }

  it('is void once its node is uncordoned', async () => {
    const { store, round, kept } = world();
    await round();
    expect(kept()).toEqual(order);
    store.nodes.set('a', aNode('a'));
    await round();
    expect(kept()).toMatchObject({
      done: true,
      ok: false,
      detail: expect.stringContaining('cordon or drain it first'),
    });
  });

  it('is void once something is assigned to its node, and not by what a view with a gap shows', async () => {
    const { store, round, kept } = world();
    store.workloads.set('db', aWorkload('db', { generation: 1, assignment: { node: 'a', generation: 1 } }));
    store.nodes.live = false;
    await round();
    expect(kept()).toEqual(order);
    store.nodes.live = true;
    await round();
    expect(kept()).toMatchObject({ done: true, ok: false, detail: expect.stringContaining('db') });
  });
});

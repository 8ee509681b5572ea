import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerRecord } from '#contracts';
import { connectBus, type Bus } from '../bus/bus.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { WorkerRegistry } from './worker-registry.js';

async function until(what: () => boolean, limitMs = 30_000): Promise<number> {
  const start = performance.now();
  while (!what()) {
    if (performance.now() - start > limitMs) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - start;
}

describe('worker registry', () => {
  let nats: TestNats;
  let bus: Bus;
  beforeEach(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await bus.createBuckets();
  });
  afterEach(async () => {
    await bus.close();
    await nats.stop();
  });
  const fencer = { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'] } as const;

  it('shows who offers what, as it changes, until they leave', async () => {
    const view = await WorkerRegistry.watch(bus);
    expect(view.live()).toEqual([]);
    const worker = await WorkerRegistry.announce(bus, { ...fencer, drivers: ['ipmitool'] });
    await until(() => view.offers('fencer', 'ipmitool'));
    expect(view.offers('provisioner', 'ipmitool')).toBe(false);
    worker.setDrivers(['exec']);
    await until(() => view.offers('fencer', 'exec'));
    expect(view.offers('fencer', 'ipmitool')).toBe(false);
    let told = 0;
    view.onChange(() => told++);
    await worker.close();
    // Not after the silence of a dead one, 6 s.
    expect(await until(() => view.live().length === 0)).toBeLessThan(5000);
    expect(told).toBeGreaterThan(0);
    await view.close();
  });

  it('says which addresses its host has, as of each beat', async () => {
    const view = await WorkerRegistry.watch(bus);
    let addresses = ['10.0.0.1'];
    const worker = await WorkerRegistry.announce(bus, { ...fencer, drivers: [], addresses: () => addresses });
    const seen = (): string[] | undefined => view.live()[0]?.addresses;
    await until(() => seen()?.[0] === '10.0.0.1');
    addresses = ['10.0.0.1', '10.1.0.1'];
    await until(() => seen()?.length === 2);
    await worker.close();
    await view.close();
  });

  it('counts a worker that is silent for 6 s as dead, and one that beats as alive', async () => {
    const dead: WorkerRecord = {
      ...fencer,
      drivers: [],
      id: 'dead',
      incarnation: 'x',
      host: 'h',
      startedAt: 0,
      beat: 1,
    };
    await bus.bucket<WorkerRecord>('workers').create('fencer=dead', dead);
    const worker = await WorkerRegistry.announce(bus, { ...fencer, drivers: [] });
    const begun = performance.now();
    const view = await WorkerRegistry.watch(bus);
    expect(view.live().map((w) => w.id)).toEqual(['dead', 'fencer-1']);
    await until(() => view.live().length === 1);
    expect(performance.now() - begun).toBeGreaterThan(5900);
    await until(() => (view.live()[0]?.beat ?? 0) > 3);
    expect(view.live().map((w) => w.id)).toEqual(['fencer-1']);
    await view.close();
    await worker.close();
  });

  it('refuses a second process with the id of a live one, and lets it take over a dead one', async () => {
    const first = await WorkerRegistry.announce(bus, { ...fencer, drivers: [] });
    await expect(WorkerRegistry.announce(bus, { ...fencer, drivers: [] })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
    const dead: WorkerRecord = {
      ...fencer,
      drivers: [],
      id: 'dead',
      incarnation: 'x',
      host: 'h',
      startedAt: 0,
      beat: 1,
    };
    await bus.bucket<WorkerRecord>('workers').create('fencer=dead', dead);
    const start = performance.now();
    const second = await WorkerRegistry.announce(bus, { ...fencer, drivers: [], id: 'dead' });
    expect(performance.now() - start).toBeGreaterThan(5900);
    await second.close();
    await first.close();
  });

  it('tells a displaced worker that it must end', async () => {
    let by = '';
    await WorkerRegistry.announce(bus, { ...fencer, drivers: [], onDisplaced: (host) => (by = host) });
    await bus
      .bucket<WorkerRecord>('workers')
      .mutate('fencer=fencer-1', (entry) =>
        entry === undefined ? undefined : { ...entry.value, incarnation: 'other', host: 'elsewhere' },
      );
    await until(() => by === 'elsewhere');
  });

  it('says nothing of anybody while its view has a gap, and examines everybody anew after it', async () => {
    const worker = await WorkerRegistry.announce(bus, { ...fencer, drivers: ['ipmitool'] });
    const view = await WorkerRegistry.watch(bus);
    expect(view.stale).toBe(false);
    await nats.kill();
    await until(() => view.stale);
    expect(view.live()).toEqual([]);
    expect(view.offers('fencer', 'ipmitool')).toBe(false);
    await nats.restart();
    await until(() => view.offers('fencer', 'ipmitool'));
    await view.close();
    await worker.close();
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError, type WorkerRecord } from '#contracts';
import type { Reconciler } from '../../conductor/task.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aNode } from '../../testing/records.js';
import { SETTLE_MS } from '../settled.js';
import { drivers } from './drivers.js';

describe('a driver that nobody offers', () => {
  let store: MemoryStore;
  let sut: Reconciler;

  beforeEach(() => {
    store = new MemoryStore();
    store.nodes.set('n-1', aNode('n-1'));
    sut = planExecutor(store).drive(drivers);
    offered(false);
  });

  const worker = (service: WorkerRecord['service'], driver: string): WorkerRecord =>
    ({ service, id: `${service}-1`, host: 'c-1', drivers: [driver], reads: 99 }) as unknown as WorkerRecord;
  const offered = (is: boolean): void => {
    store.workers.all = [worker('provisioner', 'ansible'), ...(is ? [worker('fencer', 'ipmitool')] : [])];
  };
  const round = async (at: number, term = 1): Promise<void> => {
    store.clock.now = at;
    await playRun(sut, { token: term, now: at });
  };

  it('is an alarm and an event after its time, once, and until one does', async () => {
    for (const at of [0, SETTLE_MS - 1]) await round(at);
    expect(store.told).toEqual([]);
    for (const at of [SETTLE_MS, SETTLE_MS + 1]) await round(at);
    expect(store.told).toEqual(['alarm no-workers', 'driver ipmitool']);
    expect(store.alarms.content['no-workers=ipmitool']?.message).toContain('1 node(s)');
    offered(true);
    for (const at of [SETTLE_MS + 2, SETTLE_MS + 3]) await round(at);
    expect(store.told.slice(2)).toEqual(['alarm no-workers', 'driver ipmitool']);
    expect(store.alarms.content['no-workers=ipmitool']).toHaveProperty('cleared');
  });

  it('is none after a restart: neither of its worker, nor of inventory, nor of NATS', async () => {
    await round(0);
    offered(true);
    await round(SETTLE_MS - 1);
    offered(false);
    await round(SETTLE_MS);
    await round(SETTLE_MS + 10_000, 2);
    await round(2 * SETTLE_MS + 5_000, 2);
    store.workers.stale = true;
    await round(2 * SETTLE_MS + 6_000, 2);
    store.workers.stale = false;
    await round(3 * SETTLE_MS, 2);
    await round(3 * SETTLE_MS + 6_000, 2);
    expect(store.told).toEqual([]);
    await round(4 * SETTLE_MS, 2);
    expect(store.told).toEqual(['alarm no-workers', 'driver ipmitool']);
  });

  it('stays the alarm that it is over a restart of inventory, and through what nobody knows', async () => {
    await round(0);
    await round(SETTLE_MS);
    store.told.length = 0;
    await round(SETTLE_MS + 1, 2);
    offered(true);
    store.workers.stale = true;
    await round(SETTLE_MS + 2, 2);
    store.workers.stale = false;
    store.nodes.live = false;
    await round(SETTLE_MS + 3, 2);
    store.nodes.live = true;
    offered(false);
    await round(2 * SETTLE_MS + 4, 2);
    expect(store.told).toEqual([]);
    expect(store.alarms.content['no-workers=ipmitool']).not.toHaveProperty('cleared');
  });

  it('is told by its event after all, where that could not be stored beside its alarm', async () => {
    const { emit } = store.bus;
    store.bus.emit = async (kind, key) =>
      kind === 'driver' ? Promise.reject(new MusterError('TIMEOUT', 'no answer')) : emit(kind, key);
    await round(0);
    await expect(round(SETTLE_MS)).rejects.toThrow('no answer');
    expect(store.told).toEqual(['alarm no-workers']);
    store.bus.emit = emit;
    for (const at of [SETTLE_MS + 1, SETTLE_MS + 2]) await round(at);
    expect(store.told).toEqual(['alarm no-workers', 'driver ipmitool']);
  });
});

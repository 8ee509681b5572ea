import { describe, expect, it } from 'vitest';
import { Bus, Lease, silentLog, TokenMemory, tokenFloor, type LeaseRecord } from '#bus';
import { STORE_GENERATION_KEY, type StoreGeneration } from '#contracts';
import { Dice } from '#contracts/testing/dice.js';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { VirtualTime } from '../time/virtual-time.js';
import { clientOf } from './played-client.js';
import { PlayedFaults } from './played-faults.js';
import { PlayedServer } from './played-server.js';

/** Processes that contend for one lease, and somebody who remembers tokens. */
async function world() {
  const time = new VirtualTime();
  const dice = new Dice(1);
  const server = new PlayedServer(time, { faults: new PlayedFaults(dice) });
  const start = (name: string): Bus => {
    const clock = new VirtualClock(time, { name });
    const random = new SeededRandom(dice);
    return new Bus({ ...clientOf(server, name, clock, random), name, clock, random, log: silentLog });
  };
  const inventory = start('inventory');
  await time.settle(inventory.createBuckets());
  const leases = await time.settle(inventory.bucket<LeaseRecord>('leases').view());
  const memory = TokenMemory.follow(inventory, leases);
  const contend = (name: string, held: () => number | undefined = () => 0): Lease => {
    const bus = start(name);
    const lease = new Lease(bus, { name: 'fencer', holder: name, floor: () => tokenFloor(bus, held) });
    lease.start();
    return lease;
  };
  const until = async (holds: () => boolean): Promise<void> => {
    if (!(await time.until(holds, 60_000))) throw new Error('it never came to be');
  };
  const stop = (...leases: Lease[]): Promise<unknown> =>
    time.settle(Promise.all([...leases.map((l) => l.stop()), memory.close()]));
  return { time, server, inventory, memory, contend, until, stop };
}

describe('tokens', () => {
  it('grow when the bucket of leases was made anew and all who held one are gone', async () => {
    const { server, contend, until, stop, time, inventory } = await world();
    let before = 0;
    for (let n = 0; n < 4; n++) {
      const lease = contend(`f${n}`);
      await until(() => lease.held);
      expect(lease.token).toBeGreaterThan(before);
      before = lease.token;
      await time.settle(lease.stop());
    }
    await until(() => inventory.connected);
    await time.settle(inventory.clock.sleep(2_000));
    server.recreateStream('KV_leases');
    const next = contend('next');
    await until(() => next.held);
    expect(next.token).toBeGreaterThan(before);
    await stop(next);
  });

  it('grow when it was made anew before its watch has shown a term that somebody was allowed to act in', async () => {
    const { server, contend, until, stop, time, memory } = await world();
    await time.settle(memory.keep(500));
    await time.settle(memory.keep(7));
    server.recreateStream('KV_leases');
    const next = contend('next');
    await until(() => next.held);
    expect(next.token).toBe(501);
    await stop(next);
  });

  it('are kept each, though one comes while another is written', async () => {
    const { stop, time, inventory } = await world();
    const leases = inventory.bucket<LeaseRecord>('leases');
    const take = (token: number): Promise<unknown> =>
      leases.create(`lease-${token}`, { holder: 'x', token, ttlMs: 5_000, nonce: `${token}.1` });
    await time.settle(Promise.all([take(40), take(60), take(50)]));
    await time.settle(inventory.clock.sleep(1_000));
    expect(await time.settle(tokenFloor(inventory, () => 0))).toBe(60);
    await stop();
  });

  it('are above all that the guarded records hold, and nobody leads while those are not known', async () => {
    const { contend, until, stop, time, inventory } = await world();
    let held: number | undefined;
    const lease = contend('f', () => held);
    await time.settle(inventory.clock.sleep(5_000));
    expect(lease.held).toBe(false);
    held = 500;
    await until(() => lease.held);
    expect(lease.token).toBe(501);
    await stop(lease);
  });

  it('have one holder at a time, also when their bucket goes away from under one', async () => {
    const { server, contend, until, stop, time, inventory } = await world();
    const [a, b] = [contend('a'), contend('b')];
    await until(() => a.held || b.held);
    await time.settle(inventory.clock.sleep(2_000));
    const holder = a.held ? a : b;
    const other = a.held ? b : a;
    const token = holder.token;
    server.recreateStream('KV_leases');
    await until(() => !holder.held || holder.token > token);
    expect(other.held).toBe(false);
    await until(() => holder.held || other.held);
    expect(Math.max(holder.token, other.token)).toBeGreaterThan(token);
    expect(holder.held && other.held).toBe(false);
    await stop(a, b);
  });

  it('are above those of every earlier generation of the store', async () => {
    const { contend, until, stop, time, inventory } = await world();
    const settings = inventory.bucket<StoreGeneration>('settings');
    await time.settle(settings.create(STORE_GENERATION_KEY, { generation: 1_795_000_000 }));
    const first = contend('a');
    await until(() => first.held);
    expect(first.token).toBe(1_795_000_000_000_001);
    await time.settle(first.stop());
    await time.settle(settings.mutate(STORE_GENERATION_KEY, () => ({ generation: 1_795_000_001 })));
    const next = contend('b');
    await until(() => next.held);
    expect(next.token).toBe(1_795_000_001_000_001);
    await stop(next);
  });

  it('are raised where a record holds a higher one', async () => {
    const { contend, until, stop } = await world();
    const lease = contend('a');
    await until(() => lease.held);
    expect(lease.raise(lease.token - 1)).toBe(false);
    expect(lease.raise(77)).toBe(true);
    expect(lease.held).toBe(false);
    await until(() => lease.held);
    expect(lease.token).toBe(78);
    await stop(lease);
  });
});

import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { Bus, Lease, silentLog, WorkerRegistry, type KvView, type LeaseRecord } from '#bus';
import { Buckets, type BucketName, type IncidentRecord, type WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { Dice } from '#contracts/testing/dice.js';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { VirtualTime } from '../time/virtual-time.js';
import { clientOf } from './played-client.js';
import { PlayedFaults } from './played-faults.js';
import { PlayedServer } from './played-server.js';

/** A played server with the product's storage, and somebody who writes what no program of ours writes. */
async function world() {
  const time = new VirtualTime();
  const dice = new Dice(1);
  const server = new PlayedServer(time, { faults: new PlayedFaults(dice) });
  const start = (name: string): Bus => {
    const clock = new VirtualClock(time, { name });
    const random = new SeededRandom(dice);
    return new Bus({ ...clientOf(server, name, clock, random), name, clock, random, log: silentLog });
  };
  const bus = start('inventory');
  let n = 0;
  const stranger = clientOf(
    server,
    'stranger',
    new VirtualClock(time, { name: 'stranger' }),
    new SeededRandom(dice),
  ).messages;
  await time.settle(bus.createBuckets());
  const put = async (bucket: BucketName, key: string, text: string): Promise<void> => {
    n += 1;
    await time.settle(stranger.append(`$KV.${bucket}.${key}`, text, { id: `stranger-${n}`, timeoutMs: 1_000 }));
  };
  const run = <T>(work: Promise<T>): Promise<T> => time.settle(work);
  const until = async (holds: () => boolean, withinMs = 60_000): Promise<number> => {
    const begun = time.nowMs;
    if (!(await time.until(holds, withinMs))) throw new Error('it never came to be');
    return time.nowMs - begun;
  };
  return { time, start, bus, put, run, until };
}

const workload: WorkloadRecord = {
  name: 'web',
  desired: 'running',
  priority: 0,
  weight: 1,
  recovery: { driver: 'ansible', spec: {} },
  generation: 3,
};

describe('whoever follows buckets', () => {
  it('outlives any value under any key, and does not read it', async () => {
    const { bus, put, run, until } = await world();
    const views = await run(Promise.all(Buckets.map((name) => bus.bucket(name).view())));
    const workers = await run(WorkerRegistry.watch(bus));
    const leases = Lease.view(views[Buckets.indexOf('leases')] as KvView<LeaseRecord>, bus.clock);
    const junk = fc.sample(fc.oneof(fc.json(), fc.string(), fc.constant('{"schema":2}')), {
      numRuns: runs(60),
      seed: 1,
    });
    for (const [i, text] of junk.entries()) await put(Buckets[i % Buckets.length] as BucketName, `zzz-${i % 7}`, text);
    await run(bus.bucket('workloads').create('web', workload));
    const shown = views[Buckets.indexOf('workloads')];
    await until(() => shown?.get('web') !== undefined);
    expect(shown?.entries()).toHaveLength(1);
    expect(workers.live()).toEqual([]);
    expect(leases.list()).toEqual([]);
    leases.close();
    await run(Promise.all([...views, workers].map((v) => v.close())));
  });

  it('sees one go that can no longer be read, and come back', async () => {
    const { bus, put, run, until } = await world();
    const workloads = bus.bucket<WorkloadRecord>('workloads');
    await run(workloads.create('web', workload));
    const view = await run(workloads.view());
    await put('workloads', 'web', '{"name":"web"}');
    await until(() => view.unreadable.has('web'));
    expect(view.get('web')).toBeUndefined();
    await expect(run(workloads.get('web'))).rejects.toMatchObject({ code: 'RECORD_UNREADABLE' });
    await expect(run(workloads.mutate('web', () => workload))).rejects.toMatchObject({ code: 'RECORD_UNREADABLE' });
    await expect(run(workloads.create('web', workload))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    expect(bus.unreadable.list()).toMatchObject([{ bucket: 'workloads', key: 'web', why: 'desired is missing' }]);
    await put('workloads', 'web', JSON.stringify(workload));
    await until(() => view.get('web') !== undefined);
    expect([view.unreadable.size, bus.unreadable.list()]).toEqual([0, []]);
    await run(view.close());
  });

  it('finds an open incident where it cannot be read, and writes over it in no way', async () => {
    const { bus, put, run, until } = await world();
    const incidents = bus.bucket<IncidentRecord>('incidents');
    await put('incidents', 'n-1', '{"phase":"closed"}');
    const view = await run(incidents.view());
    await until(() => view.get('n-1') !== undefined);
    const seen = view.get('n-1');
    expect(seen?.value).toMatchObject({ node: 'n-1', phase: 'suppressed', unreadable: 'id is missing' });
    const next = { ...(seen?.value as IncidentRecord), phase: 'closed' as const };
    await expect(run(incidents.update('n-1', next, seen?.revision ?? 0))).rejects.toMatchObject({
      code: 'RECORD_UNREADABLE',
    });
    const found = await run(incidents.read('n-1'));
    if (found === undefined || !('why' in found)) throw new Error('it can be read');
    await run(incidents.discard(found));
    await until(() => view.get('n-1') === undefined);
    await run(view.close());
  });
});

describe('a lease whose record nobody can read', () => {
  it.each(['null', '{"holder":7}', '', '{"holder":"x","token":1e400,"nonce":"","ttlMs":1}'])(
    'has no holder for as long as one might still believe in it, then has one with a higher token: %s',
    async (text) => {
      const { start, put, run, until, time } = await world();
      const [a, b] = [start('a'), start('b')].map((bus) => new Lease(bus, { name: 'fencer', holder: bus.name }));
      a?.start();
      await until(() => a?.held === true);
      const token = a?.token ?? 0;
      b?.start();
      await put('leases', 'fencer', text);
      const sinceMs = time.nowMs;
      await until(() => a?.held !== true);
      await until(() => a?.held === true || b?.held === true);
      expect(time.nowMs - sinceMs).toBeGreaterThan(14_000);
      expect(time.nowMs - sinceMs).toBeLessThan(20_000);
      expect(Math.max(a?.token ?? 0, b?.token ?? 0)).toBeGreaterThan(token);
      expect(a?.held === true && b?.held === true).toBe(false);
      await run(Promise.all([a?.stop(), b?.stop()]));
    },
  );
});

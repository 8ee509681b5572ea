import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkerRegistry, type Closable } from '#bus';
import {
  Subjects,
  type AlarmView,
  type JobRecord,
  type MusterEvent,
  type NodeRecord,
  type StatusView,
} from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { aJob } from '../testing/fixtures.js';
import { aDevice } from '../testing/records.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server; the spec plays agents, detector and workers. */
describe('a restart', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  /** What was told of drivers and alarms, from the first word on. */
  const told: string[] = [];
  const closables: Closable[] = [];
  let rounds = 0;

  const work = async (): Promise<Closable> => {
    const worker = { service: 'fencer' as const, id: 'fencer-9', drivers: ['redfish'], host: 'control' };
    const announced = await WorkerRegistry.announce(fleet.bus, worker);
    closables.push(announced);
    return announced;
  };
  const status = (): Promise<StatusView> => fleet.bus.call('inventory.status', {});
  const missing = (drivers: string[]): Promise<unknown> =>
    until(
      async () => (await status()).missingDrivers.map((m) => m.driver).join() === drivers.join(),
      `missing drivers: [${drivers.join()}]`,
    );
  const nodes = () => fleet.bus.bucket<NodeRecord>('nodes');
  /** All that a conductor does by itself it has done once more: it ends what is left of a job that has ended. */
  const round = async (): Promise<void> => {
    const jobs = fleet.bus.bucket<JobRecord>('jobs');
    const id = `job-${(rounds += 1)}`;
    await jobs.create(id, aJob({ id, kind: 'check', nodes: [] }));
    await until(async () => (await jobs.get(id))?.value.settled, `${id} is settled`);
  };

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    fleet = served.fleet;
    const heard = [Subjects.event('alarm', '*'), Subjects.event('driver', '*')];
    closables.push(
      fleet.bus.follow(heard, { fromSeq: 1 }, (_subject, event) => {
        const { kind, data } = event as MusterEvent<'alarm' | 'driver'>;
        if (kind === 'driver') told.push(`driver ${(data as { driver: string }).driver}`);
        const { code, subject, cleared } = data as AlarmView;
        if (['no-workers', 'workload-held', 'no-room'].includes(code))
          told.push(`${code} ${subject} ${cleared === undefined ? 'raised' : 'cleared'}`);
      }),
    );
    await work();
    const redfish = [[{ ...aDevice(), driver: 'redfish', port: 9002 }]];
    await nodes().mutate('n-2', (n) => n && { ...n.value, powerLevels: redfish });
    await missing([]);
    await fleet.mute('n-3');
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-3', reason: 'it is mute' });
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: {} });
    await until(() => told.length > 0, 'db waits for the word of n-3');
  });
  afterAll(async () => {
    for (const c of closables.reverse()) await c.close();
    await served.stop();
  });

  it('of a worker is told of by no alarm, and ends none', async () => {
    expect(told).toEqual(['workload-held db raised']);
    await closables.pop()?.close();
    await missing(['redfish']);
    await round();
    await work();
    await missing([]);
    await round();
    expect(told).toEqual(['workload-held db raised']);
  });

  it('of inventory is neither, nor is one of its replicas that takes over, also where it is up before the detector', async () => {
    // Each node is out of service while no detector is heard: what stands against them is another thing then.
    const workload = { hostGroup: 'service-worker' };
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'web', workload });
    const standing = ['workload-held db raised', 'no-room web raised'];
    await until(() => told.length === standing.length, 'web has no room');
    fleet.detectorSilent = true;
    await served.whileStopped(() => Promise.resolve());
    await round();
    fleet.detectorSilent = false;
    await until(async () => (await status()).detector.sighted, 'the detector is heard');
    await missing([]);
    await round();
    const leave = await served.join();
    await leave();
    await round();
    expect(told).toEqual(standing);
  });
});

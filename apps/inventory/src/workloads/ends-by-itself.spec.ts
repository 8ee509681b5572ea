import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Subjects,
  type GateAnswer,
  type JobRecord,
  type MusterEvent,
  type NodeResult,
  type NodeView,
  type WorkloadRecord,
} from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server, in hurried time; the spec plays agents, detector and provisioner. */
describe('a workload that stops on a node that is well', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3'], { hurry: 5 });
    fleet = served.fleet;
    fleet.run('n-1', 'db', 1);
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: { node: 'n-1' } });
    await until(async () => (await db()).boot, 'db seen on n-1');
  });
  afterEach(() => served.stop());

  const db = async (): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get('db'))?.value as WorkloadRecord;
  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const starts = async (): Promise<JobRecord[]> =>
    (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value).filter((j) => j.kind === 'recover');
  const start = (): Promise<JobRecord> =>
    until(async () => (await starts()).find((j) => j.status === 'Queued'), 'a start to be given');
  const carryOut = async (j: JobRecord): Promise<void> => {
    fleet.run(j.nodes[0] ?? '', 'db', j.recover?.[0]?.generation ?? 0);
    await end(j, { db: { started: true, reason: '' } });
  };
  const end = async (j: JobRecord, workloads: NonNullable<NodeResult['workloads']>): Promise<void> => {
    const results = { [j.nodes[0] ?? '']: { ok: true, step: 'recover', workloads } };
    await fleet.bus
      .bucket<JobRecord>('jobs')
      .mutate(j.id, (c) => c && { ...c.value, status: 'Complete', startedAt: 1, endedAt: 2, results });
  };
  const alarm = async (code: string): Promise<string | undefined> =>
    (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === code)?.message;

  it('is started there again, once, and it is told; what shall not run is left alone', async () => {
    fleet.run('n-2', 'web', 1);
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'web', workload: { node: 'n-2' } });
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'web', workload: { desired: 'stopped' } });
    const stop = await start();
    fleet.stop('n-2', 'web');
    await end(stop, { web: { started: false, stopped: true, reason: '' } });

    const told: unknown[] = [];
    const subscription = fleet.bus.subscribe(Subjects.event('workload', 'db'), (text) =>
      told.push((JSON.parse(text) as MusterEvent<'workload'>).data.change),
    );
    fleet.stop('n-1', 'db');
    const again = await start();
    expect(again).toMatchObject({ nodes: ['n-1'], cause: 'ended', recover: [{ workload: 'db', generation: 1 }] });
    await carryOut(again);
    await until(async () => (await db()).start === undefined, 'it runs again');
    expect(await db()).toMatchObject({ assignment: { node: 'n-1', generation: 1 }, ended: { times: 1 } });
    expect((await starts()).map((j) => j.id).sort()).toEqual([stop.id, again.id].sort());
    await until(() => told.includes('ended'), 'the event');
    await subscription.close();
  });

  it('goes elsewhere where its node is out of service, and the registry follows where somebody has moved it: there it may start', async () => {
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-1', reason: 'new memory' });
    await until(async () => !(await node('n-1')).inService, 'cordoned');
    fleet.stop('n-1', 'db');
    const elsewhere = await start();
    expect(elsewhere.nodes[0]).not.toBe('n-1');
    expect(elsewhere.recover?.[0]?.generation).toBeGreaterThan(1);
    await carryOut(elsewhere);
    await until(async () => (await db()).start === undefined, 'it runs again');
    const [from, to] = elsewhere.nodes[0] === 'n-2' ? ['n-2', 'n-3'] : ['n-3', 'n-2'];
    fleet.stop(from, 'db');
    fleet.run(to, 'db', 9);
    await until(async () => (await db()).assignment?.node === to, 'the registry follows');
    expect(await starts()).toHaveLength(1);
    expect(await alarm('workload-ended')).toBeUndefined();

    // Its unit asks with the generation that it was made for, whatever the registry has given it since.
    const gate = (node: string, generation: number): Promise<GateAnswer> =>
      fleet.bus.ask<GateAnswer>(Subjects.gate(node), { workload: 'db', bootId: fleet.bootId(node), generation });
    expect(await gate(to, 9)).toMatchObject({ allowed: true, generation: 9 });
    expect((await gate(to, 8)).generation).not.toBe(8);
    expect(await gate(from, 9)).toMatchObject({ allowed: false });
    // Nor where another node runs it by then, which was not so when its start was permitted.
    fleet.run(from, 'db', 3);
    await until(async () => !(await gate(to, 9)).allowed, 'its report is heard');
    expect(await gate(to, 9)).toMatchObject({ reason: `${from} says that it runs it.` });
    fleet.stop(from, 'db');
    await until(async () => (await gate(to, 9)).allowed, 'its report is heard');
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: { desired: 'stopped' } });
    expect(await gate(to, 9)).toMatchObject({ allowed: false });
  });
});

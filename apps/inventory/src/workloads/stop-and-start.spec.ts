import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type IncidentRecord, type JobRecord, type NodeResult, type RpcRequest, type WorkloadRecord } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { until } from '../testing/until.js';
import { ServedFleet } from '../testing/served-fleet.js';

/** Of a failure of which the job says none. */
const NO_REASON = 'The job ended without a word about it.';

/** Inventory on a real server; the spec plays the agents and the provisioner. */
describe('a workload that shall not run any more', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    fleet = served.fleet;
    fleet.run('n-1', 'db', 1);
    await put({ node: 'n-1' });
    await until(async () => (await db()).boot, 'db seen on n-1');
  });

  afterEach(() => served.stop());

  const put = (workload: RpcRequest<'inventory.workloads.put'>['workload']): Promise<WorkloadRecord> =>
    fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload });
  const remove = (): Promise<unknown> => fleet.bus.call('inventory.workloads.delete', { by: 'eve', name: 'db' });
  const db = async (): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get('db'))?.value as WorkloadRecord;
  const job = (what: 'stop' | 'start', but: string[] = []): Promise<JobRecord> =>
    until(
      async () =>
        (await fleet.bus.bucket<JobRecord>('jobs').list())
          .map((e) => e.value)
          .find(
            (j) =>
              j.kind === 'recover' &&
              j.status === 'Queued' &&
              !but.includes(j.id) &&
              j.recover?.every((t) => (t.stop === true) === (what === 'stop')),
          ),
      `a job that has it ${what === 'stop' ? 'stopped' : 'started'}`,
    );
  const end = async (j: JobRecord, said: NonNullable<NodeResult['workloads']>[string]): Promise<void> => {
    const ok = said.started || said.stopped === true;
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      j.id,
      (c) =>
        c && {
          ...c.value,
          status: ok ? 'Complete' : 'Errored',
          endedAt: Date.now(),
          results: { 'n-1': { ok, step: 'recover', workloads: { db: said } } },
        },
    );
  };
  const carryOutStop = async (j: JobRecord): Promise<void> => {
    fleet.stop('n-1', 'db');
    await end(j, { started: false, stopped: true, reason: '' });
  };

  it('is refused with a template in the name of a member, which Ansible would carry out', async () => {
    const recovery = { driver: 'ansible' as const, spec: { environment: { "{{ lookup('pipe', 'id') }}": 'x' } } };
    await expect(put({ recovery })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('is stopped on its node under a generation of its own, and then reads back as stopped', async () => {
    const owed = await put({ desired: 'stopped' });
    expect(owed).toMatchObject({
      desired: 'stopped',
      assignment: { node: 'n-1', generation: 2 },
      stop: { attempt: 0 },
    });
    const j = await job('stop');
    expect(j).toMatchObject({ nodes: ['n-1'], recover: [{ workload: 'db', generation: 2, stop: true }] });
    expect((await db()).stop?.job).toBe(j.id);
    await carryOutStop(j);
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
    expect(await db()).toMatchObject({ desired: 'stopped', assignment: { node: 'n-1' } });
    expect((await fleet.bus.bucket<JobRecord>('jobs').list()).filter((e) => e.value.kind === 'recover')).toHaveLength(
      1,
    );
  });

  it('is started again on its assignment, newer than a stop that is still on its way', async () => {
    await put({ desired: 'stopped' });
    const stop = await job('stop');
    const again = await put({ desired: 'running' });
    expect(again).toMatchObject({ assignment: { node: 'n-1', generation: 3 } });
    expect(again.stop).toBeUndefined();
    // Its node still reports the run that is about to be stopped: no proof of this start.
    const start = await job('start');
    expect(start.recover).toMatchObject([{ workload: 'db', generation: 3 }]);
    expect((await db()).start?.job).toBe(start.id);
    await carryOutStop(stop);
    fleet.run('n-1', 'db', 3);
    await end(start, { started: true, reason: '' });
    await until(async () => (await db()).start === undefined, 'it runs again');
  });

  it('is tried again, with an alarm, until its node has read the stop back', async () => {
    await put({ desired: 'stopped' });
    const first = await job('stop');
    await end(first, { started: false, reason: 'it still runs after its stop' });
    const alarm = await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'workload-held'),
      'alarm workload-held',
    );
    expect(alarm.message).toContain('still runs');
    await carryOutStop(await job('stop', [first.id]));
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.length === 0,
      'the alarm is cleared',
    );
  });

  it('is not taken for stopped by a failure that gives no reason', async () => {
    await put({ desired: 'stopped' });
    const first = await job('stop');
    await end(first, { started: false, reason: '' });
    const again = await until(async () => {
      const { stop } = await db();
      return stop === undefined ? { why: 'taken for stopped' } : stop.attempt > 0 && stop;
    }, 'what came of it');
    expect(again).toMatchObject({ attempt: 1, why: NO_REASON });
    const next = await job('stop', [first.id]);
    // Of the node, not of the workload, as where the whole run has failed.
    const failed: Partial<JobRecord> = { status: 'Errored', endedAt: 1 };
    const results: JobRecord['results'] = { 'n-1': { ok: false, step: 'recover', message: '' } };
    await fleet.bus.bucket<JobRecord>('jobs').mutate(next.id, (c) => c && { ...c.value, ...failed, results });
    await carryOutStop(await job('stop', [first.id, next.id]));
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
  });

  it('is stopped, and started again, above what its node has seen of it where the registry went back', async () => {
    await put({ desired: 'stopped' });
    const first = await job('stop');
    await end(first, {
      started: false,
      reason: 'STALE: generation 2 is older than 40, which this node has seen',
      seen: 40,
    });
    const stop = await job('stop', [first.id]);
    expect(stop.recover).toMatchObject([{ workload: 'db', generation: 41, stop: true }]);
    await carryOutStop(stop);
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
    await put({ desired: 'running' });
    const start = await job('start');
    await end(start, { started: false, reason: 'generation 42 is older than 90, which is installed here', seen: 90 });
    const again = await job('start', [start.id]);
    expect(again.recover).toMatchObject([{ workload: 'db', generation: 91 }]);
  });

  it('has its job ordered by a token above the one that its worker knows of where the store went back', async () => {
    const conductor = async (): Promise<number> =>
      (await fleet.bus.call('inventory.status', {})).leases.find((l) => l.name === 'conductor')?.token ?? 0;
    await put({ desired: 'stopped' });
    const first = await job('stop');
    await fleet.bus
      .bucket<JobRecord>('jobs')
      .mutate(
        first.id,
        (c) => c && { ...c.value, status: 'Errored', error: 'STALE_TOKEN', endedAt: 1, outranked: 70_000 },
      );
    const next = await job('stop', [first.id]);
    if ((next.conductor ?? 0) <= 70_000) {
      // The round that saw the answer may have written one more.
      await end(next, { started: false, reason: 'STALE_TOKEN' });
      expect((await job('stop', [first.id, next.id])).conductor).toBeGreaterThan(70_000);
    }
    expect(await conductor()).toBeGreaterThan(70_000);
  });

  it('is not deleted before it is stopped', async () => {
    await expect(remove()).rejects.toMatchObject({ code: 'WORKLOAD_RUNNING' });
    await put({ desired: 'stopped' });
    await expect(remove()).rejects.toMatchObject({ code: 'WORKLOAD_RUNNING' });
    await carryOutStop(await job('stop'));
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
    const { generation } = await db();
    await remove();
    expect(await db()).toBeUndefined();
    // Its nodes refuse whatever is not newer than what they did for the one of that name before.
    expect((await put({})).generation).toBeGreaterThanOrEqual(generation);
    const first = await until(async () => (await db()).assignment, 'placed again');
    expect(first.generation).toBeGreaterThan(generation);
  });

  it('is refused with a recovery driver that nobody carries out', async () => {
    await expect(put({ recovery: { driver: 'event' as 'ansible', spec: {} } })).rejects.toMatchObject({
      code: 'DRIVER_UNKNOWN',
    });
  });

  it('waits for a silent node, and is started nowhere when that is fenced', async () => {
    await fleet.die('n-1');
    await put({ desired: 'stopped' });
    const i = await until(async () => {
      const entry = await fleet.bus.bucket<IncidentRecord>('incidents').get('n-1');
      return entry?.value.phase === 'fencing' && entry;
    }, 'fencing');
    await fleet.bus
      .bucket<IncidentRecord>('incidents')
      .update(
        'n-1',
        { ...i.value, phase: 'fenced', epoch: 1, proof: { kind: 'read-back', at: 1, level: 0 } },
        i.revision,
      );
    await until(async () => (await db()).assignment === undefined, 'taken from the dead node');
    expect(await db()).not.toHaveProperty('stop');
    await until(async () => {
      const entry = await fleet.bus.bucket<IncidentRecord>('incidents').get('n-1');
      return entry?.value.phase === 'recovered';
    }, 'recovered');
    expect((await fleet.bus.bucket<JobRecord>('jobs').list()).filter((e) => e.value.kind === 'recover')).toEqual([]);
    await remove();
  });

  it('is stopped by another replica when the conductor goes down in the middle', async () => {
    const succeed = await served.join();
    await put({ desired: 'stopped' });
    await succeed();
    await carryOutStop(await job('stop'));
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
    expect((await fleet.bus.bucket<JobRecord>('jobs').list()).filter((e) => e.value.kind === 'recover')).toHaveLength(
      1,
    );
  });

  it('is stopped again where it is seen running all the same', async () => {
    await put({ desired: 'stopped' });
    const first = await job('stop');
    await carryOutStop(first);
    await until(async () => (await db()).stop === undefined, 'the stop is read back');
    fleet.run('n-1', 'db', 2);
    await carryOutStop(await job('stop', [first.id]));
    await until(async () => (await db()).stop === undefined, 'the stop is read back again');
  });
});

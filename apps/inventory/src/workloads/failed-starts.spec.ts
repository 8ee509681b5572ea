import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecord, WorkloadRecord } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** Inventory on a real server; the spec plays the agents and the provisioner. */
describe('a workload that a healthy node does not get started', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2']);
    fleet = served.fleet;
  });

  afterEach(() => served.stop());

  const workload = async (): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get('db'))?.value as WorkloadRecord;
  const job = (is: 'start' | 'stop'): Promise<JobRecord> =>
    until(
      async () =>
        (await fleet.bus.bucket<JobRecord>('jobs').list())
          .map((e) => e.value)
          .find(
            (j) => j.kind === 'recover' && j.status === 'Queued' && (j.recover?.[0]?.stop === true) === (is === 'stop'),
          ),
      `a job to ${is} it`,
      { timeoutMs: 20_000 },
    );
  const end = (j: JobRecord, result: { started: boolean; stopped?: boolean; reason: string }): Promise<unknown> => {
    const ok = result.started || result.stopped === true;
    const results = { [j.nodes[0] ?? '']: { ok, step: 'recover' as const, workloads: { db: result } } };
    return fleet.bus
      .bucket<JobRecord>('jobs')
      .mutate(j.id, (c) => c && { ...c.value, status: ok ? 'Complete' : 'Errored', endedAt: Date.now(), results });
  };

  it('is stopped there after three tries, read back, and started on another, with that one left out', async () => {
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: {} });
    const tried: string[] = [];
    for (let tries = 0; tries < 3; tries += 1) {
      const start = await job('start');
      tried.push(start.nodes[0] ?? '');
      await end(start, { started: false, reason: 'no such unit' });
    }
    expect(new Set(tried)).toEqual(new Set([tried[0]]));
    const bad = tried[0] ?? '';
    const stop = await job('stop');
    expect(stop.nodes).toEqual([bad]);
    expect(await workload()).toMatchObject({ move: { cause: 'start-failed', from: bad }, failedOn: [{ node: bad }] });
    await end(stop, { started: false, stopped: true, reason: '' });
    const again = await job('start');
    const good = again.nodes[0] ?? '';
    expect(good).not.toBe(bad);
    fleet.run(good, 'db', again.recover?.[0]?.generation ?? 0);
    await end(again, { started: true, reason: '' });
    await until(async () => (await workload()).start === undefined, 'it runs on the other');
    expect(await workload()).toMatchObject({ assignment: { node: good }, failedOn: [{ node: bad }] });
  });
});

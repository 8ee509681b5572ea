import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecord, WorkloadRecord } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** Inventory on a real server; the spec plays the agents and the provisioner. */
describe('work that was lost with reboots', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  const nodes = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];

  beforeEach(async () => {
    served = await ServedFleet.start(nodes);
    fleet = served.fleet;
  });

  afterEach(() => served.stop());

  const workload = async (name: string): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get(name))?.value as WorkloadRecord;
  const pass = async (node: string): Promise<void> => {
    const check = await until(
      async () =>
        (await fleet.bus.bucket<JobRecord>('jobs').list())
          .map((e) => e.value)
          .find((j) => j.kind === 'check' && j.nodes.includes(node) && j.status !== 'Complete'),
      `a check of ${node}`,
    );
    const ok = { findings: [{ service: 'agent', result: 'ok' as const, why: '' }], checksum: 'c' };
    const results = { [node]: { ok: true, step: 'check' as const, check: ok } };
    await fleet.bus
      .bucket<JobRecord>('jobs')
      .mutate(check.id, (c) => c && { ...c.value, status: 'Complete', endedAt: Date.now(), results });
  };
  const inService = (count: number): Promise<unknown> =>
    until(
      async () => (await fleet.bus.call('inventory.nodes.list', { inService: true })).items.length === count,
      `${count} in service`,
    );

  it('waits for its own nodes while less than half of the fleet serves, and is spread over the rest after that', async () => {
    for (const node of nodes)
      await fleet.bus
        .bucket<{ provisioned?: object }>('nodes')
        .mutate(node, (c) => c && { ...c.value, provisioned: { checksum: 'c', at: 1, job: 'j' } });
    const lost = ['a', 'b', 'c'];
    for (const name of lost) await served.runs(name, 'n-1');
    for (const node of nodes.slice(0, 4)) await fleet.boot(node);
    const held = await until(
      async () => {
        const all = await Promise.all(lost.map(workload));
        return all.every((w) => w.held?.includes('Less than half of the fleet serves') === true) && all;
      },
      'all are held',
      { timeoutMs: 30_000 },
    );
    expect(held.map((w) => w.assignment?.node)).toEqual(['n-1', 'n-1', 'n-1']);
    await pass('n-2');
    await pass('n-3');
    await inService(3);
    const moved = await until(
      async () => {
        const all = await Promise.all(lost.map(workload));
        return all.every((w) => w.assignment?.node !== 'n-1') && all;
      },
      'all have gone elsewhere',
      { timeoutMs: 30_000 },
    );
    expect(new Set(moved.map((w) => w.assignment?.node))).toEqual(new Set(['n-2', 'n-3', 'n-5']));
  });
});

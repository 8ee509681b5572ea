import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AlarmRecord, JobRecord, NodeRecord } from '#contracts';
import { LATE_LIST_MS } from '#domain/workload/start-decision.js';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** By then an agent of the spec has reported again, which it does ten times a second, also on a busy machine, ms. */
const REPORTED_MS = 1_000;

/** Inventory on a real server; the spec plays the agents and the detector. */
describe('while a node is mute, and others hear it', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    fleet = served.fleet;
    // The first choice of every placement.
    await fleet.bus
      .bucket<NodeRecord>('nodes')
      .mutate('n-3', (c) => c && { ...c.value, vars: { recovery_reserve: true } });
    // Of what may have come to it before this process began to look, nothing is known; nor before its next report came.
    await new Promise<void>((resolve) => void fleet.bus.clock.after(LATE_LIST_MS + REPORTED_MS, resolve));
  });

  afterEach(() => served.stop());

  const put = (name: string): Promise<unknown> =>
    fleet.bus.call('inventory.workloads.put', { by: 'eve', name, workload: {} });
  const startOf = (name: string): Promise<JobRecord> =>
    until(
      async () =>
        (await fleet.bus.bucket<JobRecord>('jobs').list())
          .map((e) => e.value)
          .find((j) => j.recover?.some((r) => r.workload === name)),
      `the start of ${name}`,
      { timeoutMs: 20_000 },
    );

  it('what it does not run is started, on another', async () => {
    await fleet.mute('n-3');
    await put('db');
    expect((await startOf('db')).nodes[0]).toMatch(/^n-[12]$/);
  });

  it('nothing is started where something runs on it that asks no start gate', async () => {
    fleet.gated.set('own', false);
    fleet.run('n-3', 'own', 1);
    await until(
      async () => (await fleet.bus.bucket<NodeRecord>('nodes').get('n-3'))?.value.ungated !== undefined,
      'inventory to know',
    );
    await fleet.mute('n-3');
    await put('db');
    const held = await until<AlarmRecord>(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'workload-held'),
      'the alarm',
      { timeoutMs: 20_000 },
    );
    expect(held).toMatchObject({ subject: 'db', message: 'Held: it is not known what runs on n-3.' });
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READS, workerKey, type IncidentRecord, type WorkerRecord } from '#contracts';
import type { FakeFleet } from '../../testing/fake-fleet.js';
import { ServedFleet } from '../../testing/served-fleet.js';
import { until } from '../../testing/until.js';

/** Inventory on a real server; the spec plays the fencers. */
describe('a fencer of an earlier version beside this inventory', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4']);
    fleet = served.fleet;
  });

  afterEach(() => served.stop());

  /** As such a version announces itself: without what it reads. */
  const old: WorkerRecord = {
    ...{ service: 'fencer', id: 'fencer-old', drivers: ['ipmitool'], host: 'control' },
    ...{ incarnation: 'x', startedAt: 1, beat: 1 },
  };
  const alarm = async (): Promise<string | undefined> =>
    (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'worker-outdated')?.subject;

  it('is told by an alarm that names it, which ends with it', async () => {
    await fleet.bus.bucket('workers').create(workerKey(old), old);
    await until(async () => (await alarm()) === 'fencer=fencer-old', 'the alarm');
    await fleet.bus.bucket('workers').delete(workerKey(old));
    await until(async () => (await alarm()) === undefined, 'its end');
  });

  it('is told by that where it reads what is sealed, and no power records; a provisioner needs none', async () => {
    const reads = READS.sealed;
    const beside: WorkerRecord = { ...old, service: 'provisioner', id: 'provisioner-2', reads };
    for (const w of [beside, { ...old, reads }]) await fleet.bus.bucket('workers').create(workerKey(w), w);
    await until(async () => (await alarm()) !== undefined, 'the alarm');
    const { items } = await fleet.bus.call('inventory.alarms.list', {});
    expect(items.flatMap((a) => (a.code === 'worker-outdated' ? [a.subject] : []))).toEqual(['fencer=fencer-old']);
  });

  it.each([
    ['says nothing of what it reads', {}],
    ['reads no power records, and so may not ask a device who it is,', { reads: READS.sealed }],
  ])('is refused by name when it %s and asks for its leave, which one of this version gets', async (_which, says) => {
    await fleet.bus.bucket('workers').create(workerKey(old), { ...old, ...says });
    await fleet.die('n-4');
    const i = await until(
      async () => (await fleet.bus.bucket<IncidentRecord>('incidents').get('n-4'))?.value.phase === 'fencing',
      'the incident',
    ).then(async () => fleet.bus.call('inventory.incidents.get', { node: 'n-4' }));
    const ask = { node: 'n-4', incident: i.id, epoch: 1, ...says };
    expect(await fleet.bus.call('inventory.incidents.recheck', ask)).toMatchObject({
      go: false,
      reason: expect.stringMatching(/^Fencer fencer-old is of an earlier version.* Stop it/) as string,
    });
    const leave = await fleet.bus.call('inventory.incidents.recheck', { ...ask, reads: READS.powerRecords });
    expect(leave).toMatchObject({ go: true });
  });
});

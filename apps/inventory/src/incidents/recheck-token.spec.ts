import { afterAll, beforeAll, expect, it } from 'vitest';
import { READS, TOKEN_FLOOR_KEY, type IncidentRecord, type TokenFloor } from '#contracts';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

let served: ServedFleet;
beforeAll(async () => {
  served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4']);
});
afterAll(() => served?.stop());

/** Inventory on a real server; the spec plays a fencer whose lease its inventory has never seen. */
it('the token of a fencer that may power off is kept apart from bucket leases before it is answered, and an older one gets none', async () => {
  const { bus } = served.fleet;
  await served.fleet.die('n-4');
  await until(
    async () => (await bus.bucket<IncidentRecord>('incidents').get('n-4'))?.value.phase === 'fencing',
    'the incident',
  );
  const { id: incident } = await bus.call('inventory.incidents.get', { node: 'n-4' });
  const ask = { node: 'n-4', incident, epoch: 777, reads: READS.powerRecords };
  expect(await bus.call('inventory.incidents.recheck', ask)).toMatchObject({ go: true });
  expect((await bus.bucket<TokenFloor>('settings').get(TOKEN_FLOOR_KEY))?.value).toEqual({ highest: 777 });

  // Another leader has written since.
  await bus.bucket<IncidentRecord>('incidents').mutate('n-4', (e) => e && { ...e.value, epoch: 778 });
  const late = await bus.call('inventory.incidents.recheck', ask);
  expect(late).toMatchObject({ go: false, reason: expect.stringContaining('Token 777 is older') as string });
  expect(await bus.call('inventory.incidents.recheck', { ...ask, epoch: 778 })).toMatchObject({ go: true });
});

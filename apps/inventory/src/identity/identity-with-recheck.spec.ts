import { afterAll, beforeAll, expect, it } from 'vitest';
import { identityBasis, READS, type IncidentRecord, type NodeRecord } from '#contracts';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

const GUID = '00112233445566778899aabbccddee01';

let served: ServedFleet;
beforeAll(async () => {
  served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4']);
  served.fleet.identify = (node) =>
    node.powerLevels.flat().map((d) => ({ id: d.id, basis: identityBasis(d), seen: { guid: GUID } }));
});
afterAll(() => served?.stop());

/** Inventory on a real server; the spec plays the fencer that rechecks, and the devices. */
it('what the device of a dead node said at its suspicion goes with the answer to the recheck', async () => {
  const { bus } = served.fleet;
  const nodes = bus.bucket<NodeRecord>('nodes');
  const [device] = (await nodes.get('n-4'))?.value.powerLevels.flat() ?? [];
  const basis = device === undefined ? '' : identityBasis(device);
  const powerIdentity = { bmc: { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis } } as const;
  await nodes.mutate('n-4', (now) => now && { ...now.value, powerIdentity, hardware: { systemUuid: GUID, at: 1 } });
  await served.fleet.die('n-4');
  const phase = async (): Promise<string | undefined> =>
    (await bus.bucket<IncidentRecord>('incidents').get('n-4'))?.value.phase;
  await until(async () => (await phase()) === 'fencing', 'the incident');
  const { id: incident } = await bus.call('inventory.incidents.get', { node: 'n-4' });
  const ask = { node: 'n-4', incident, epoch: 900, reads: READS.powerRecords };
  const answer = await bus.call('inventory.incidents.recheck', ask);
  expect(answer).toMatchObject({ go: true, identity: { devices: [{ id: 'bmc', basis, seen: { guid: GUID } }] } });
  expect(answer.identity?.ageMs).toBeGreaterThanOrEqual(0);
});

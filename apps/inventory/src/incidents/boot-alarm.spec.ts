import { afterAll, beforeAll, expect, it } from 'vitest';
import { SETTINGS_KEY, type AlarmRecord, type ClusterSettings, type IncidentRecord, type NodeRecord } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { anIncident } from '../testing/records.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

const GRACE_MS = 1_500;

let served: ServedFleet;
let fleet: FakeFleet;

beforeAll(async () => {
  served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4']);
  fleet = served.fleet;
});
afterAll(() => served.stop());

const grace = (leaveGrace: number) =>
  fleet.bus.bucket<ClusterSettings>('settings').mutate(SETTINGS_KEY, (s) => s && { ...s.value, leaveGrace });
const alarms = async (): Promise<AlarmRecord[]> =>
  (await fleet.bus.call('inventory.alarms.list', {})).items.filter((a) => a.cleared === undefined);
const isUp = async (id: string): Promise<boolean> => (await alarms()).some((a) => `${a.code}=${a.subject}` === id);
/** Fenced, its work recovered, and dealt with as `o` says. */
const recovered = async (name: string, o: Partial<IncidentRecord>): Promise<void> => {
  await fleet.die(name);
  const off = { at: 1, incident: `i-${name}` };
  await fleet.bus
    .bucket<NodeRecord>('nodes')
    .mutate(name, (n) => n && { ...n.value, state: 'Disappeared', confirmedOff: off });
  await fleet.bus
    .bucket<IncidentRecord>('incidents')
    .mutate(name, () => anIncident(name, { phase: 'recovered', bootId: fleet.bootId(name), ...o }));
};

it('a fenced node that was powered on and does not boot is told of after its grace, and until it is heard', async () => {
  await grace(GRACE_MS);
  const on = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'on' as const, at: 1, result: { ok: true } };
  const began = performance.now();
  await recovered('n-1', { commands: [on], powerOn: { wanted: true, requestedAt: 1, done: true, ok: true } });
  await until(() => isUp('boot-timeout=n-1'), 'the alarm');
  expect(performance.now() - began).toBeGreaterThanOrEqual(GRACE_MS);

  // Whoever takes over has seen the command only now, and does not take back what was told.
  await grace(600_000);
  const handOver = await served.join();
  await handOver();
  await recovered('n-2', { powerOn: { wanted: false, requestedAt: 1, done: true } });
  await until(() => isUp('power-on-withheld=n-2'), 'a round of the other replica');
  await fleet.boot('n-2');
  await fleet.bus.bucket<IncidentRecord>('incidents').delete('n-2');
  await until(async () => !(await isUp('power-on-withheld=n-2')), 'the next round of it');
  expect(await isUp('boot-timeout=n-1')).toBe(true);

  await fleet.boot('n-1');
  await until(async () => !(await isUp('boot-timeout=n-1')), 'the end of the alarm');
});

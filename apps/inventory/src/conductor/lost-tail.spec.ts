import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lease } from '#bus';
import {
  fencerFloor,
  RESERVATIONS_KEY,
  type AlarmView,
  type IncidentRecord,
  type JobRecord,
  type LeaseView,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { aJob } from '../testing/fixtures.js';
import { anIncident } from '../testing/records.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server, in hurried time; the spec takes from the store what a crash can take. */
describe('a store that lost what was written last', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  const leases: Lease[] = [];

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3'], { hurry: 10 });
    fleet = served.fleet;
  });
  afterAll(async () => {
    await Promise.all(leases.map((l) => l.stop()));
    await served.stop();
  });

  const job = async (id: string): Promise<JobRecord | undefined> =>
    (await fleet.bus.bucket<JobRecord>('jobs').get(id))?.value;
  const holds = async (): Promise<Reservations['held'] | undefined> =>
    (await fleet.bus.bucket<Reservations>('admission').get(RESERVATIONS_KEY))?.value.held;
  const node = async (name: string): Promise<NodeRecord | undefined> =>
    (await fleet.bus.bucket<NodeRecord>('nodes').get(name))?.value;
  const incidents = () => fleet.bus.bucket<IncidentRecord>('incidents');
  const behind = async (): Promise<AlarmView | undefined> =>
    (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'token-behind');
  const held = async (name: string): Promise<LeaseView | undefined> =>
    (await fleet.bus.call('inventory.status', {})).leases.find((l) => l.name === name && l.holder !== undefined);
  const contend = async (name: string, floor?: () => Promise<number>): Promise<Lease> => {
    const lease = new Lease(fleet.bus, { name, holder: `${name}-1`, ...(floor && { floor }) });
    leases.push(lease);
    lease.start();
    await lease.whenHeld();
    return lease;
  };

  it('has nodes freed of which only the hold of a job is left, unless a worker still renews its lease', async () => {
    const hold = (of: string) => ({ job: of, kind: 'maintenance' as const, generation: 1, at: 5 });
    for (const name of ['n-1', 'n-2'])
      await fleet.bus
        .bucket<NodeRecord>('nodes')
        .mutate(name, (n) => n && { ...n.value, status: 'Maintenance', prevStatus: 'Allocated' });
    await contend('job.job-worked');
    await fleet.bus.bucket<Reservations>('admission').mutate(RESERVATIONS_KEY, (r) => ({
      ...{ generation: (r?.value.generation ?? 0) + 1, pending: {} },
      held: { 'n-2': hold('job-worked'), 'n-1': hold('job-lost') },
    }));
    const lost = await until(async () => {
      const now = await job('job-lost');
      return now?.settled === true && now;
    }, 'the lost job is ended');
    expect(lost).toMatchObject({ status: 'Errored', kind: 'maintenance', nodes: ['n-1'], by: 'muster' });
    expect(lost.error).toContain('The record of this job was lost');
    expect((await node('n-1'))?.status).toBe('Unallocated');
    expect([await job('job-worked'), Object.keys((await holds()) ?? {})]).toEqual([undefined, ['n-2']]);
  });

  it('has an alarm where a token is below what its records hold, until the lease is taken above it', async () => {
    const below = await contend('fencer');
    await incidents().create('n-3', anIncident('n-3', { phase: 'closed', epoch: 1_000_000 }));
    const alarm = await until(behind, 'the alarm');
    expect(alarm).toMatchObject({ subject: 'fencer', severity: 'critical' });
    expect(alarm.message).toContain('fencer-1 holds the lease fencer with token');
    await below.stop();
    await contend('fencer', async () => fencerFloor((await incidents().list()).map((e) => e.value)));
    expect((await until(() => held('fencer'), 'the lease'))?.token).toBeGreaterThan(1_000_000);
    await until(async () => (await behind()) === undefined, 'the alarm is over');
  });

  it('has a conductor that goes on above the highest token in its records', async () => {
    const other = aJob({ id: 'job-other', nodes: [], conductor: 2_000_000, settled: true });
    await fleet.bus.bucket<JobRecord>('jobs').create(other.id, other);
    const raised = await until(async () => {
      const lease = await held('conductor');
      return lease !== undefined && lease.token > 2_000_000 && lease;
    }, 'a higher token');
    expect(raised.holder).toBe('inventory-1');
    expect(await behind()).toBeUndefined();
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IncidentRecord, JobRecord, NodeRecord, NodeView, StatusView } from '#contracts';
import type { FakeFleet } from '../../testing/fake-fleet.js';
import { anIncident } from '../../testing/records.js';
import { ServedFleet } from '../../testing/served-fleet.js';
import { until } from '../../testing/until.js';

/** A running inventory on a real server, in hurried time. */
describe('a cordoned node that returns', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2'], { hurry: 5 });
    fleet = served.fleet;
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-1', reason: 'new memory' });
  });
  afterEach(async () => {
    await served.stop();
  });

  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const jobsOf = async (name: string): Promise<JobRecord[]> =>
    (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value).filter((j) => j.nodes.includes(name));
  const returned = async (name: string): Promise<void> => {
    await fleet.boot(name);
    await until(async () => (await node(name)).pendingReturn, `the return of ${name} is on record`);
  };

  it('is left alone, says so, and is checked once it is uncordoned', async () => {
    await returned('n-1');
    // One that came back after it gets its check first.
    await returned('n-2');
    await until(async () => (await jobsOf('n-2')).length > 0, 'n-2 is checked');
    expect(await jobsOf('n-1')).toEqual([]);
    const { reasons } = await node('n-1');
    expect(reasons.find((r) => r.code === 'PENDING_RETURN')?.detail).toBe(
      'it returned (rebooted) and is neither checked nor set up again before it is uncordoned',
    );
    const status: StatusView = await fleet.bus.call('inventory.status', {});
    expect(status.nodes.out.find((n) => n.node === 'n-1')?.remedy).toEqual({
      text: 'It is left alone while it is cordoned; its check begins when it is uncordoned.',
      command: 'muster node uncordon n-1',
    });

    await fleet.bus.call('inventory.nodes.uncordon', { by: 'eve', name: 'n-1' });
    const [check] = await until(async () => {
      const jobs = await jobsOf('n-1');
      return jobs.length > 0 && jobs;
    }, 'n-1 is checked');
    expect(check).toMatchObject({ kind: 'check', cause: 'return' });
  });

  it('ends its incident, so that it can be drilled once more, and stays in maintenance', async () => {
    const incidents = fleet.bus.bucket<IncidentRecord>('incidents');
    await fleet.bus
      .bucket<NodeRecord>('nodes')
      .mutate('n-1', (n) => n && { ...n.value, maintenance: { reason: 'fenced', at: 1 } });
    await incidents.create('n-1', anIncident('n-1', { phase: 'recovered' }));
    await returned('n-1');
    await until(async () => (await incidents.get('n-1'))?.value.phase === 'closed', 'its incident is over');
    expect(await node('n-1')).toMatchObject({ maintenance: { reason: 'fenced' }, inService: false });
    expect(await jobsOf('n-1')).toEqual([]);
  });
});

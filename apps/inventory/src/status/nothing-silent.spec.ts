import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlarmView, StatusView, WithRevision, WorkloadView } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server; the spec plays agents, detector and workers. */
describe('what should run and does not', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    fleet = served.fleet;
  });
  afterAll(() => served.stop());

  const status = (): Promise<StatusView> => fleet.bus.call('inventory.status', {});
  const workload = (name: string): Promise<WithRevision<WorkloadView>> =>
    fleet.bus.call('inventory.workloads.get', { name });
  const put = (name: string, node: string): Promise<unknown> =>
    fleet.bus.call('inventory.workloads.put', { by: 'eve', name, workload: { node } });
  const forget = (name: string, reason?: string): Promise<unknown> =>
    fleet.bus.call('inventory.workloads.delete', { by: 'eve', name, ...(reason !== undefined && { reason }) });

  it('is shown beside what is desired, also where its node was cordoned and died, with an alarm that names it', async () => {
    fleet.run('n-1', 'db', 1);
    await put('db', 'n-1');
    await until(async () => (await workload('db')).actual.state === 'running', 'db is seen');
    expect(await workload('db')).toMatchObject({ desired: 'running', actual: { state: 'running', seenOn: 'n-1' } });
    const { workloads } = await until(async () => {
      const now = await status();
      return now.workloads.total === 1 && now;
    }, 'db is counted');
    expect(workloads).toEqual({ total: 1, running: 1, wrong: 0, worst: [] });

    await fleet.bus.call('inventory.nodes.cordon', { by: 'ann', name: 'n-1', reason: 'disk swap' });
    await fleet.die('n-1');
    const alarm = await until(
      async () =>
        (await fleet.bus.call('inventory.alarms.list', {})).items.find(
          (a: AlarmView) => a.code === 'dead-with-work' && a.subject === 'n-1',
        ),
      'an alarm about n-1',
    );
    expect(alarm).toMatchObject({ severity: 'critical', remedy: { command: 'muster node get n-1' } });
    expect(alarm.message).toContain('cordoned by ann (disk swap)');
    expect(alarm.message).toContain('Runs nowhere: db.');

    const shown = { state: 'dead', remedy: { command: 'muster node get n-1' } };
    expect((await workload('db')).actual).toMatchObject(shown);
    const { items } = await fleet.bus.call('inventory.workloads.list', {});
    expect(items).toMatchObject([{ name: 'db', desired: 'running', actual: shown }]);
    const now = await status();
    expect(now.workloads).toMatchObject({ total: 1, running: 0, wrong: 1, worst: [{ workload: 'db', node: 'n-1' }] });
    expect(now.nodes.out[0]).toMatchObject({ node: 'n-1', planned: false });
    expect((await fleet.bus.call('inventory.nodes.get', { name: 'n-1' })).reasons).toContainEqual(
      expect.objectContaining({
        code: 'CORDONED',
        remedy: expect.objectContaining({ command: 'muster node uncordon n-1' }),
      }),
    );

    // What is to be done about it works.
    await fleet.bus.call('inventory.nodes.uncordon', { by: 'ann', name: 'n-1' });
    await until(
      async () => !(await status()).alarms.some((a) => a.code === 'dead-with-work') && (await status()).incidents[0],
      'its incident takes the alarm’s place',
    );
  });

  it('can be forgotten with its node where that was never heard, by somebody’s word', async () => {
    const node = { label: 'h', serial: '9', networks: { management: { address: '10.0.0.99' } } };
    await fleet.bus.call('inventory.nodes.create', { by: 'eve', node });
    await put('lost', 'h-9');
    expect((await workload('lost')).actual).toMatchObject({
      state: 'unknown',
      why: 'h-9 was never heard: nobody knows what runs there.',
      remedy: { command: 'muster discover 10.0.0.99' },
    });
    await expect(fleet.bus.call('inventory.nodes.delete', { by: 'eve', name: 'h-9' })).rejects.toMatchObject({
      code: 'WORKLOADS_PRESENT',
    });
    await expect(forget('lost')).rejects.toMatchObject({
      code: 'WORKLOAD_RUNNING',
      message: expect.stringContaining('muster workload delete lost --reason'),
    });
    await forget('lost', 'its host was never installed');
    await fleet.bus.call('inventory.nodes.delete', { by: 'eve', name: 'h-9' });
  });

  it('is not forgotten by anybody’s word where its node has spoken', async () => {
    await expect(forget('db', 'trust me')).rejects.toMatchObject({ code: 'WORKLOAD_RUNNING' });
  });

  it('has the nodes that are out shown the worst first: with work, then what nobody wants so, then what somebody does', async () => {
    await fleet.bus.call('inventory.nodes.cordon', { by: 'ann', name: 'n-2', reason: 'new disks' });
    await fleet.say('n-3', { verdict: 'LEFT', reason: 'It said that it leaves.' });
    const out = await until(async () => {
      const now = (await status()).nodes.out;
      return now.length === 3 && now;
    }, 'three nodes are out');
    expect(out.map((n) => [n.node, n.planned])).toEqual([
      ['n-1', false],
      ['n-3', false],
      ['n-2', true],
    ]);
  });
});

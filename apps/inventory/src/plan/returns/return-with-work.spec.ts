import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CheckResult, JobRecord, NodeRecord, NodeResult, NodeView, WorkloadRecord } from '#contracts';
import type { FakeFleet } from '../../testing/fake-fleet.js';
import { ServedFleet } from '../../testing/served-fleet.js';
import { until } from '../../testing/until.js';

/** A running inventory on a real server, in hurried time; the spec plays agents, detector and provisioner. */
describe('a node with work that is back', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  /** All that a node has been held for. */
  let held: string[];
  let stopWatching: () => Promise<void>;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3'], { hurry: 5 });
    fleet = served.fleet;
    held = [];
    const view = await fleet.bus.bucket<NodeRecord>('nodes').view();
    view.onChange((_name, n) => {
      if (n?.pendingReturn?.held !== undefined && held.at(-1) !== n.pendingReturn.held) held.push(n.pendingReturn.held);
    });
    stopWatching = () => view.close();
    await fleet.bus
      .bucket<NodeRecord>('nodes')
      .mutate('n-1', (n) => n && { ...n.value, provisioned: { checksum: 'sum', at: 1, job: 'job-0' } });
    fleet.run('n-1', 'db', 1);
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'db', workload: { node: 'n-1' } });
    await until(async () => (await db()).boot, 'db seen on n-1');
  });
  afterEach(async () => {
    await stopWatching();
    await served.stop();
  });

  const db = async (): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get('db'))?.value as WorkloadRecord;
  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const jobs = async (): Promise<JobRecord[]> => (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value);
  const next = (kind: JobRecord['kind']): Promise<JobRecord> =>
    until(async () => (await jobs()).find((j) => j.kind === kind && j.status === 'Queued'), `a ${kind} to be done`);
  const end = async (j: JobRecord, result: Omit<NodeResult, 'step'>): Promise<void> => {
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      j.id,
      (c) =>
        c && {
          ...c.value,
          status: result.ok ? 'Complete' : 'Errored',
          startedAt: 1,
          endedAt: 2,
          worker: 'spec',
          results: { [j.nodes[0] ?? '']: { step: j.kind === 'resetup' ? 'site' : j.kind, ...result } },
        },
    );
  };
  const found = (result: 'ok' | 'drift'): { ok: true; check: CheckResult } => ({
    ok: true,
    check: { findings: [{ service: 'mirror', result, why: result === 'ok' ? '' : 'gone' }], checksum: 'sum' },
  });
  const start = async (j: JobRecord): Promise<void> => {
    fleet.run(j.nodes[0] ?? '', 'db', j.recover?.[0]?.generation ?? 0);
    await end(j, { ok: true, workloads: { db: { started: true, reason: '' } } });
  };
  const serves = (name: string): Promise<unknown> =>
    until(async () => (await node(name)).inService, `${name} in service`);
  const starts = async (): Promise<JobRecord[]> => (await jobs()).filter((j) => j.kind === 'recover');

  it('by a reboot is set up again and serves, with its work elsewhere meanwhile, started once', async () => {
    await fleet.boot('n-1');
    await end(await next('check'), found('drift'));
    await start(await next('recover'));
    await end(await next('resetup'), { ok: true, checksum: 'sum' });
    await serves('n-1');
    expect((await db()).assignment?.node).not.toBe('n-1');
    expect(await starts()).toHaveLength(1);
    expect(held).toEqual([]);
  });

  it('by a reboot is set up again where there is no room elsewhere, and only then starts its work itself', async () => {
    for (const name of ['n-2', 'n-3'])
      await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name, reason: 'no room' });
    await fleet.boot('n-1');
    await end(await next('check'), found('drift'));
    const resetup = await next('resetup');
    expect((await db()).assignment).toEqual({ node: 'n-1', generation: 1 });
    expect(await starts()).toEqual([]);
    await end(resetup, { ok: true, checksum: 'sum' });
    await start(await next('recover'));
    await until(async () => (await db()).boot === fleet.bootId('n-1'), 'db runs in the new boot');
    await serves('n-1');
    expect(await starts()).toMatchObject([{ nodes: ['n-1'] }]);
    expect(held).toEqual([]);
  });

  it('is held while it runs what a cleanup would end, and checked anew by itself when it no longer does', async () => {
    await fleet.say('n-1', { verdict: 'LEFT', reason: 'It said that it leaves.' });
    await until(async () => (await node('n-1')).state === 'Disappeared', 'n-1 is away');
    await fleet.revive('n-1');
    const first = await next('check');
    await end(first, found('drift'));
    const out = await until(async () => {
      const n = await node('n-1');
      return n.pendingReturn?.held !== undefined && n;
    }, 'it is held');
    expect(out.pendingReturn).toMatchObject({ heldBy: 'work', held: expect.stringMatching(/runs db.*mirror drift/) });
    expect((await jobs()).filter((j) => j.kind === 'resetup')).toEqual([]);
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'drift'),
      'the alarm',
    );
    fleet.stop('n-1', 'db');
    const again = await next('check');
    await end(again, found('ok'));
    await serves('n-1');
  });

  it('is checked again for as long as ssh does not get there, with an alarm of its own, and never held for that', async () => {
    await fleet.boot('n-1');
    for (let n = 1; n <= 3; n += 1)
      await end(await next('check'), { ok: false, unreachable: true, message: 'no route to host' });
    const alarm = await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'check-unreachable'),
      'the alarm',
    );
    expect(alarm).toMatchObject({ subject: 'n-1', message: expect.stringContaining('no route to host') });
    expect((await node('n-1')).pendingReturn).toMatchObject({ unreached: { tries: 3 } });
    await end(await next('check'), found('ok'));
    await serves('n-1');
    expect(held).toEqual([]);
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.every((a) => a.code !== alarm.code),
      'the alarm is over',
    );
  });
});

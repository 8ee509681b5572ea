import { afterAll, beforeAll, expect, it } from 'vitest';
import { SETTINGS_KEY, type ClusterSettings, type JobRecord, type TaskView } from '#contracts';
import { aJob } from '../testing/fixtures.js';
import { RunningInventory } from '../testing/running-inventory.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';
import { tasks } from '../tasks.js';

/** It cannot be settled: nothing can be stored under the name of its node. */
const oddJob = aJob({ id: 'odd', nodes: ['no node'], status: 'Errored', settled: false });
const mended = (): JobRecord => ({ ...oddJob, nodes: [] });

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 2 });
});
afterAll(() => sut.stop());

/** What each replica answers, once it fits. */
const shown = (fits: (tasks: TaskView[]) => boolean): Promise<TaskView[]> =>
  sut
    .everywhere(
      () => sut.as('gateway').call('inventory.status', {}),
      (s) => fits(s.tasks ?? []),
    )
    .then((s) => s.tasks ?? []);
const failing = (name: string, seen: TaskView[]): TaskView | undefined =>
  seen.find((t) => t.name === name && t.errors > 0);

it('tells by every replica how each task of the conductor goes', async () => {
  const seen = await shown((all) => all.length > 0 && all.every((t) => t.lastMs !== undefined));
  expect(seen.map((t) => t.name)).toEqual(tasks.map((t) => t.name));
  expect(seen.filter((t) => t.errors > 0)).toEqual([]);
});

it('names what a task fails with, while the others go on', async () => {
  await sut.as('inventory').bucket<JobRecord>('jobs').create('odd', oddJob);
  const seen = await shown((all) => failing('job-settlement', all) !== undefined);
  expect(failing('job-settlement', seen)?.lastError).toMatchObject({ code: 'BAD_REQUEST' });
  expect(seen.filter((t) => t.errors > 0).map((t) => t.name)).toEqual(['job-settlement']);
  await sut.as('inventory').bucket<JobRecord>('jobs').mutate('odd', mended);
  await shown((all) => all.length > 0 && failing('job-settlement', all) === undefined);
});

it('shows a pause of fencing until its time is over, and not after it', async () => {
  const now = sut.as('inventory').clock.wallMs();
  const ask = sut.as('gateway');
  const settings = sut.as('inventory').bucket<ClusterSettings>('settings');
  const paused = { until: now + 3_600_000, reason: 'a switch' };
  await ask.call('inventory.fencing.put', { mode: 'enforce', by: 'ann', paused });
  const seen = (stands: boolean) =>
    sut.everywhere(
      () => ask.call('inventory.status', {}),
      (s) => (s.fencing.paused !== undefined) === stands,
    );
  expect((await seen(true)).fencing.paused).toEqual({ ...paused, by: 'ann' });
  const over = { ...paused, by: 'ann', until: now - 1 };
  await settings.mutate(SETTINGS_KEY, (s) => s && { ...s.value, fencing: { ...s.value.fencing, paused: over } });
  await seen(false);
  expect((await settings.get(SETTINGS_KEY))?.value.fencing.paused).toEqual(over);
});

it('raises an alarm about a task that fails again and again, until it does no more', async () => {
  const served = await ServedFleet.start(['n-1'], { hurry: 5 });
  try {
    const { bus } = served.fleet;
    await bus.bucket<JobRecord>('jobs').create('odd', oddJob);
    const alarm = await until(
      async () => (await bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'task-failing'),
      'the alarm',
    );
    expect(alarm).toMatchObject({
      subject: 'job-settlement',
      severity: 'critical',
      message:
        'The task job-settlement of job odd fails each time with BAD_REQUEST: that stands still until it succeeds.',
      remedy: { command: 'muster status' },
    });
    await bus.bucket<JobRecord>('jobs').mutate('odd', mended);
    await until(
      async () => (await bus.call('inventory.alarms.list', {})).items.every((a) => a.code !== 'task-failing'),
      'the alarm is over',
    );
  } finally {
    await served.stop();
  }
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JobRecord, TaskView } from '#contracts';
import { aJob } from '../testing/fixtures.js';
import { RunningInventory } from '../testing/running-inventory.js';
import { tasks } from '../tasks.js';

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
  const job = aJob({ id: 'odd', nodes: ['no node'], status: 'Errored', settled: false });
  await sut.as('inventory').bucket<JobRecord>('jobs').create('odd', job);
  const seen = await shown((all) => failing('job-settlement', all) !== undefined);
  expect(failing('job-settlement', seen)?.lastError).toMatchObject({ code: 'BAD_REQUEST' });
  expect(seen.filter((t) => t.errors > 0).map((t) => t.name)).toEqual(['job-settlement']);
  await sut.as('inventory').bucket<JobRecord>('jobs').delete('odd');
  await shown((all) => all.length > 0 && failing('job-settlement', all) === undefined);
});

import { expect, it } from 'vitest';
import type { JobRecord } from '#contracts';
import type { OperationsService } from '../operations/operations.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aJob } from '../testing/fixtures.js';
import { JobsService } from './jobs.service.js';

it('finds the active job also where the view shows it while it is looked for among those that hold nodes', async () => {
  const job = aJob({ id: 'job-1', nodes: ['a-1'], status: 'Queued', by: 'ann' });
  const shown = new Map<string, { key: string; value: JobRecord; revision: number }>();
  const store = {
    jobs: { view: { entries: () => [...shown.values()], get: (id: string) => shown.get(id) } },
    reservations: {
      bucket: {
        get: async () => {
          await Promise.resolve();
          shown.set(job.id, { key: job.id, value: job, revision: 1 });
          return { value: { held: { 'a-1': { job: job.id } }, pending: {} } };
        },
      },
    },
  };
  const sut = new JobsService(store as unknown as InventoryStore, {} as OperationsService);
  expect(await sut.get('active')).toMatchObject({ id: 'job-1' });
});

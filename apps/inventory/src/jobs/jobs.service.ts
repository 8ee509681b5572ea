import { Injectable } from '@nestjs/common';
import { isEndedJob, MusterError, type JobRecord, type Page, type PageRequest, type WithRevision } from '#contracts';
import type { Entry } from '#bus';
import { InventoryStore } from '../store/inventory-store.js';
import { shownJob } from './shown-job.js';

/** Jobs as shown, and their cancellation. */
@Injectable()
export class JobsService {
  constructor(private readonly store: InventoryStore) {}

  /** Newest first; the cursor is the id of the last one shown. */
  list(q: PageRequest & { status?: string }): Page<WithRevision<JobRecord>> {
    const all = this.newestFirst().filter((e) => q.status === undefined || e.value.status === q.status);
    const from = q.cursor === undefined ? 0 : all.findIndex((e) => e.key === q.cursor) + 1;
    const limit = Math.max(1, q.limit ?? all.length);
    const items = all.slice(from, from + limit).map(shown);
    const last = items.at(-1);
    return last && from + limit < all.length ? { items, next: last.id } : { items };
  }

  /**
   * By id, or `active`: the newest that has not ended, or `last`: the newest that has.
   * @throws MusterError JOB_UNKNOWN in the words of the operations contract
   */
  async get(id: string): Promise<WithRevision<JobRecord>> {
    if (id === 'active' || id === 'last') {
      const found = this.newestFirst().find((e) => isEndedJob(e.value) === (id === 'last'));
      if (!found) throw new MusterError('JOB_UNKNOWN', `info for "${id}" job doesn't exist`, { job: id });
      return shown(found);
    }
    const entry = JOB_ID.test(id) ? await this.store.jobs.bucket.get(id) : undefined;
    if (!entry) throw unknownJob(id);
    return shown(entry);
  }

  /** A waiting job ends here; a running one is told to its worker, which ends Ansible and its children. */
  async cancel(id: string, by: string): Promise<WithRevision<JobRecord>> {
    if (!JOB_ID.test(id)) throw unknownJob(id);
    const done = await this.store.jobs.bucket.mutate(id, (current) => {
      if (!current) throw unknownJob(id);
      const job = current.value;
      if (isEndedJob(job))
        throw new MusterError('BAD_REQUEST', `job ${id} has ended already: ${job.status}`, { job: id });
      if (job.cancel) return undefined;
      const cancel = { by, at: Date.now() };
      return job.worker === undefined && job.status === 'Queued'
        ? { ...job, cancel, status: 'Errored', error: `cancelled by ${by} before it began`, endedAt: cancel.at }
        : { ...job, cancel };
    });
    if (!done.value) throw unknownJob(id);
    return shownJob(done.value, done.revision);
  }

  private newestFirst(): Entry<JobRecord>[] {
    return this.store.jobs.view
      .entries()
      .sort((a, b) => b.value.createdAt - a.value.createdAt || (a.key < b.key ? 1 : -1));
  }
}

/** What can be a key of the bucket at all. */
const JOB_ID = /^[A-Za-z0-9._=-]{1,100}$/;
const shown = (e: Entry<JobRecord>): WithRevision<JobRecord> => shownJob(e.value, e.revision);
const unknownJob = (id: string): MusterError =>
  new MusterError('JOB_UNKNOWN', `Invalid or empty job label specified: "${id}"`, { job: id });

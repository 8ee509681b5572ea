import { Injectable } from '@nestjs/common';
import type { Entry } from '#bus';
import { MusterError, RESERVATIONS_KEY, type JobRecord } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { expendable, JOBS_KEPT } from '../plan/job-retention.js';

/** So many more are kept for a while, so that not every new job has all of them looked at. */
const SLACK = 50;

/** Keeps the bucket of jobs from growing for ever. */
@Injectable()
export class JobRetentionReconciler implements Reconciler {
  constructor(private readonly store: InventoryStore) {}

  async reconcile(c: TaskRun): Promise<void> {
    if (this.store.jobs.view.entries().length <= JOBS_KEPT + SLACK) return;
    const views = [this.store.nodes.view, this.store.workloads.view, this.store.reservations.view];
    // A record that is not seen may name any of them.
    if (views.some((v) => !v.live)) return;
    const named = this.named();
    for (const job of expendable(
      this.store.jobs.view.entries().map((e) => e.value),
      named,
    )) {
      const e = this.store.jobs.view.get(job.id);
      if (e === undefined) continue;
      c.check();
      await this.forget(e);
    }
  }

  private async forget(job: Entry<JobRecord>): Promise<void> {
    try {
      await this.store.jobs.bucket.delete(job.key, job.revision);
    } catch (e) {
      // Somebody has written it since: it is looked at again.
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    }
  }

  /** What a node was provisioned with is asked for again when it returns; a start or a stop looks for its job's end. */
  private named(): Set<string | undefined> {
    const pending = this.store.reservations.view.get(RESERVATIONS_KEY)?.value.pending ?? {};
    return new Set([
      ...Object.keys(pending),
      ...this.store.nodes.view.entries().map((e) => e.value.provisioned?.job),
      ...this.store.workloads.view.entries().flatMap((e) => [e.value.start?.job, e.value.stop?.job]),
    ]);
  }
}

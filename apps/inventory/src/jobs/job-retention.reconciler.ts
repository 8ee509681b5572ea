import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { expendable, JOBS_KEPT } from './job-retention.js';

/** Keeps the bucket of jobs from growing for ever. */
@Injectable()
export class JobRetentionReconciler implements Reconciler {
  readonly name = 'job-retention';

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    if (this.store.jobs.view.entries().length <= JOBS_KEPT) return;
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
      await this.store.jobs.bucket.delete(e.key, e.revision);
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

import { Injectable } from '@nestjs/common';
import { isEndedJob, RESERVATIONS_KEY } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';

/** Settled jobs that are kept; older ones live on in events and logs. */
export const JOBS_KEPT = 500;

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
    const over = this.store.jobs.view.entries().length - JOBS_KEPT;
    if (over <= 0) return;
    const pending = this.store.reservations.view.get(RESERVATIONS_KEY)?.value.pending ?? {};
    // What a node was provisioned with is asked for again when it returns.
    const needed = new Set(this.store.nodes.view.entries().map((e) => e.value.provisioned?.job));
    const done = this.store.jobs.view
      .entries()
      .filter((e) => isEndedJob(e.value) && e.value.settled && pending[e.key] === undefined && !needed.has(e.key))
      .sort((a, b) => a.value.createdAt - b.value.createdAt);
    for (const e of done.slice(0, over)) {
      c.check();
      await this.store.jobs.bucket.delete(e.key, e.revision);
    }
  }
}

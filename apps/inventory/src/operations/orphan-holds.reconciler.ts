import { Injectable } from '@nestjs/common';
import type { LeaseRecord } from '#bus';
import { MusterError, RESERVATIONS_KEY } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { lostJob, orphanHolds, type OrphanHold } from './orphan-holds.js';

/**
 * For so long nothing is to be seen of the job, nor of anybody who renews its lease, ms. A lease of a cluster runs out
 * after 17.5 s, and its worker's guard has ended everything before that.
 */
export const ORPHANED_MS = 30_000;

/** Ends jobs of which only the hold on their nodes is left: nobody else would ever free them. */
@Injectable()
export class OrphanHoldsReconciler implements Reconciler {
  private readonly since: AgeBook;

  constructor(private readonly store: InventoryStore) {
    this.since = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const { jobs, reservations } = this.store;
    if (!jobs.view.live || !reservations.view.live) return;
    const held = reservations.view.get(RESERVATIONS_KEY)?.value;
    const isKnown = (job: string): boolean => jobs.view.get(job) !== undefined || jobs.view.unreadable.has(job);
    const orphans = held === undefined ? [] : orphanHolds(held, isKnown);
    const aged: [OrphanHold, string][] = [];
    for (const o of orphans) aged.push([o, `${o.job}/${await this.leaseOf(o.job)}`]);
    this.since.keep(aged.map(([, key]) => key));
    for (const [o, key] of aged) if (this.since.ageMs(key) >= ORPHANED_MS) await this.end(o, c);
  }

  /** Moves on with each renewal: a worker that has not noticed may still be at work. */
  private async leaseOf(job: string): Promise<number> {
    const found = await this.store.bus.bucket<LeaseRecord>('leases').read(`job.${job}`);
    return found?.revision ?? 0;
  }

  private async end(o: OrphanHold, c: TaskRun): Promise<void> {
    const { bucket } = this.store.jobs;
    const now = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value;
    const found = await bucket.read(o.job);
    if (now === undefined || !orphanHolds(now, () => found !== undefined).some((x) => x.job === o.job)) return;
    try {
      c.check();
      await bucket.create(o.job, lostJob(o, c.token, this.store.clock.wallMs()));
      this.store.bus.log.error({ job: o.job, nodes: o.nodes }, 'a job whose record was lost is ended as failed');
    } catch (e) {
      // Somebody has written it meanwhile.
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    }
  }
}

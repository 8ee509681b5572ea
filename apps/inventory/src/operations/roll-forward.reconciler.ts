import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { OperationsService } from './operations.service.js';

/** A job that is pending for longer than its own replica needs for it is helped, ms. */
const HELP_MS = 500;

/**
 * Completes what was accepted and left half done: its replica died, or lost the bus, between the reservation and the
 * job's record. A job that its own replica is carrying out at this moment may be helped too: every step is idempotent.
 */
@Injectable()
export class RollForwardReconciler implements Reconciler {
  private readonly pendingSince: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly operations: OperationsService,
  ) {
    this.pendingSince = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const seen = this.store.reservations.view.get(RESERVATIONS_KEY)?.value;
    const pending = seen?.pending ?? {};
    this.pendingSince.keep(Object.keys(pending));
    for (const job of Object.values(pending)) {
      if (this.pendingSince.ageMs(job.id) < HELP_MS) continue;
      await c.isolated({ job: job.id }, () => this.operations.carryOut(job));
    }
  }
}

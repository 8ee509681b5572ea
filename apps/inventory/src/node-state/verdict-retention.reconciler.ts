import { Injectable } from '@nestjs/common';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { thinned } from '../plan/verdict-retention.js';

/** A fleet of 1,000 that flaps as fast as it can stores some 100 MB in that time. */
const PACE: Pace = { everyMs: 30_000 };

/** Keeps the verdicts from pushing everything else out of the stream that they share with the events. */
@Injectable()
export class VerdictRetentionReconciler implements Reconciler {
  constructor(private readonly store: InventoryStore) {}

  async reconcile(c: TaskRun): Promise<void> {
    await c.every('thin', PACE, () => this.thin(c));
  }

  private async thin(c: TaskRun): Promise<void> {
    const { bus } = this.store;
    const cut = thinned(await bus.eventStorage());
    if (cut.size === 0) return;
    bus.log.warn({ nodes: cut.size }, 'nodes change so often that only their newest verdicts are kept');
    for (const [node, keep] of cut) {
      c.check();
      await bus.keepVerdicts(node, keep);
    }
  }
}

import { Injectable } from '@nestjs/common';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentUsers } from './agent-users.js';
import { RevocationService } from './revocation.service.js';

/** ms between two looks at what NATS holds; a failure is tried again after as long. */
const REPAIR_MS = 60_000;

/** ms between two looks at the records: they are thousands, and rounds may follow each other at once. */
const SWEEP_MS = 500;

/** Keeps what NATS lets in equal to what the nodes' records name. */
@Injectable()
export class RevocationReconciler implements Reconciler {
  private repairAt = 0;
  private sweepAt = 0;

  constructor(
    private readonly store: InventoryStore,
    private readonly users: AgentUsers,
    private readonly revocations: RevocationService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    // Through a gap nobody knows which nodes there are.
    if (!this.revocations.able || !this.store.nodes.view.live || !this.users.live) return;
    const check = (): void => void c.check();
    if (c.now >= this.sweepAt) {
      this.sweepAt = c.now + REPAIR_MS;
      await this.revocations.sweep(check);
      this.sweepAt = c.now + SWEEP_MS;
    }
    if (c.now >= this.repairAt) {
      this.repairAt = c.now + REPAIR_MS;
      await this.revocations.repair(check);
    }
  }
}

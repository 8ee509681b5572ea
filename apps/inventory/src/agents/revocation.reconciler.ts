import { Injectable } from '@nestjs/common';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import { NatsUsers } from '../agent-users/nats-users.js';
import { RevocationService } from './revocation.service.js';

/** Between two looks at what NATS holds. */
const REPAIR: Pace = { everyMs: 60_000 };

/** Between two looks at the records: they are thousands, and runs may follow each other at once. */
const SWEEP: Pace = { everyMs: 500, retry: { firstMs: 60_000 } };

/** Keeps what NATS lets in equal to what the nodes' records name. */
@Injectable()
export class RevocationReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly users: AgentUsers,
    private readonly nats: NatsUsers,
    private readonly revocations: RevocationService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    // Through a gap nobody knows which nodes there are.
    if (!this.nats.able || !this.store.nodes.view.live || !this.users.live) return;
    const check = (): void => void c.check();
    await c.every('sweep', SWEEP, () => this.revocations.sweep(check));
    await c.every('repair', REPAIR, () => this.revocations.repair(check));
  }
}

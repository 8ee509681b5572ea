import { Injectable } from '@nestjs/common';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { NodeService } from './node.service.js';

/** Ends a cordon at the time of day that its operator gave; one without an end stays until somebody uncordons. */
@Injectable()
export class CordonEndReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly audit: AuditService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const now = this.store.clock.wallMs();
    for (const { key, value } of this.store.nodes.view.entries()) {
      const cordon = value.cordon;
      if (cordon?.until === undefined || cordon.until > now) continue;
      c.check();
      await this.audit.of(cordon.by, 'uncordon', key, 'the end that was given with the cordon', () =>
        this.nodes.change(key, (n) => {
          if (n.cordon?.until !== cordon.until || n.cordon?.at !== cordon.at) return undefined;
          const { cordon: _over, ...rest } = n;
          return rest;
        }),
      );
    }
  }
}

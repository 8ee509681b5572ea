import { Injectable } from '@nestjs/common';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { AuditService } from '../store/audit.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { NodeService } from './node.service.js';

/** Ends a cordon at the time of day that its operator gave; one without an end stays until somebody uncordons. */
@Injectable()
export class CordonEndReconciler implements Reconciler {
  readonly name = 'cordon-end';

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly audit: AuditService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
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

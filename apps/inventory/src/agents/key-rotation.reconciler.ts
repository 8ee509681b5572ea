import { Injectable } from '@nestjs/common';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { DatagramKeysService } from './datagram-keys.service.js';

/** Takes an exchange of the datagrams' key on, step by step. */
@Injectable()
export class KeyRotationReconciler implements Reconciler {
  readonly name = 'datagram-keys';

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly keys: DatagramKeysService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    // A node that is not seen cannot be waited for.
    if (!this.store.nodes.view.live || !this.store.settings.view.live) return;
    await this.keys.step(() => void c.check());
  }
}

import { Injectable } from '@nestjs/common';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { DatagramKeysService } from './datagram-keys.service.js';

/** Takes an exchange of the datagrams' key on, step by step. */
@Injectable()
export class KeyRotationReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly keys: DatagramKeysService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    // A node that is not seen cannot be waited for.
    if (!this.store.nodes.view.live || !this.store.settings.view.live) return;
    await this.keys.step(() => void c.check());
  }
}

import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { hasExpired } from '#domain/claim/claim-holds.js';
import { ClaimsService } from './claims.service.js';

/** Frees the nodes of a claim at the time of day that came of its `ttl`. */
@Injectable()
export class ClaimExpiryReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly claims: ClaimsService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const now = this.store.clock.wallMs();
    const seen = this.store.reservations.view.get(RESERVATIONS_KEY)?.value.claims ?? {};
    for (const claim of Object.values(seen)) {
      if (!hasExpired(claim, now)) continue;
      c.check();
      await this.claims.expire(claim.id, (current) => hasExpired(current, now));
    }
  }
}

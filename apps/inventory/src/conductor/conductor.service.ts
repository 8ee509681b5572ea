import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { conductorFloor, MusterError, type Timer } from '#contracts';
import { Lease, tokenFloor } from '#bus';
import { ServiceContext } from '#service';
import { InventoryStore } from '../store/inventory-store.js';
import type { ConductorView, Reconciler } from './reconciler.js';
import { Rounds } from './rounds.js';

/** Between two rounds where nothing wakes the conductor earlier. */
export const ROUND_MS = 1000;

/**
 * The one inventory process that drives incidents, recoveries and returns: holder of lease `conductor`. Reconcilers
 * add themselves at start; each runs in its own rounds, so that a slow or failing one holds up no other.
 */
@Injectable()
export class ConductorService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly rounds: Rounds[] = [];
  private readonly lease: Lease;
  private timer: Timer | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
  ) {
    const floor = (): Promise<number> => tokenFloor(context.bus, () => this.highestToken());
    this.lease = new Lease(context.bus, { name: 'conductor', holder: context.config.instance, floor });
  }

  /** Called by each reconciler in its own constructor. */
  add(reconciler: Reconciler): void {
    this.rounds.push(new Rounds(() => this.round(reconciler), this.context.clock));
  }

  get held(): boolean {
    return this.lease.held;
  }

  /** Runs all reconcilers soon; many wakes make one round. Does nothing on a replica that does not hold the lease. */
  wake(): void {
    if (this.lease.held) for (const r of this.rounds) r.wake();
  }

  onApplicationBootstrap(): void {
    this.lease.on((event, token) => {
      this.context.log.debug({ token }, event === 'acquired' ? 'this is the conductor now' : 'no longer the conductor');
      this.wake();
    });
    this.lease.start();
    this.unsubscribe = this.store.onChange(() => this.wake());
    this.timer = this.context.clock.every(ROUND_MS, () => this.wake());
  }

  async onApplicationShutdown(): Promise<void> {
    this.timer?.cancel();
    this.unsubscribe?.();
    await Promise.all(this.rounds.map((r) => r.close()));
    await this.lease.stop();
  }

  private highestToken(): number | undefined {
    const { incidents, jobs } = this.store;
    if (!incidents.view.live || !jobs.view.live) return undefined;
    return conductorFloor(
      incidents.view.entries().map((e) => e.value),
      jobs.view.entries().map((e) => e.value),
    );
  }

  private async round(reconciler: Reconciler): Promise<void> {
    if (!this.lease.held) return;
    const found = this.highestToken() ?? 0;
    if (found > this.lease.token && this.lease.raise(found)) return;
    const view: ConductorView = {
      token: this.lease.token,
      now: this.context.clock.monotonicMs(),
      check: () => {
        const token = this.lease.check();
        // Lost and won again within one round: what the round has read may be older than another conductor's acts.
        if (token !== view.token)
          throw new MusterError('LEASE_LOST', 'The conductor lease changed hands in this round.');
        return token;
      },
    };
    try {
      await reconciler.reconcile(view);
    } catch (cause) {
      const e = MusterError.from(cause);
      const line = { reconciler: reconciler.name, code: e.code, cause: e.cause };
      if (e.code === 'LEASE_LOST') this.context.log.debug(line, e.message);
      else this.context.log.error(line, `round failed: ${e.message}`);
    }
  }
}

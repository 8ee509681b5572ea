import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MusterError } from '#contracts';
import { InventoryStore } from './inventory-store.js';

/**
 * Work that its caller need not wait for: the decision is stored already, and nobody is misled when this process ends
 * before it. A shutdown in good order waits for it.
 */
@Injectable()
export class AfterAnswer implements OnApplicationShutdown {
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly store: InventoryStore) {}

  /** `what` goes on in the log where the work fails. */
  run(what: string, work: () => Promise<unknown>): void {
    const tracked = work()
      .then(
        () => undefined,
        (e: unknown) => this.store.bus.log.warn({ what, reason: MusterError.from(e).message }, 'left to the conductor'),
      )
      .finally(() => this.running.delete(tracked));
    this.running.add(tracked);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Timer } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';

/** Changes that come within this time of each other are one event, ms. */
const BATCH_MS = 100;

/** Tells of nodes that came or went, as lists: one event for a batch. */
@Injectable()
export class FleetEvents implements OnApplicationShutdown {
  private readonly waiting = { discovered: new Set<string>(), disappeared: new Set<string>() };
  private timer: Timer | undefined;

  constructor(private readonly store: InventoryStore) {}

  note(change: 'discovered' | 'disappeared', node: string): void {
    this.waiting[change].add(node);
    this.timer ??= this.store.clock.after(BATCH_MS, () => {
      this.timer = undefined;
      this.flush().catch((err: unknown) => this.store.bus.log.error({ err }, 'a list event was not stored'));
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.timer?.cancel();
    await this.flush();
  }

  private async flush(): Promise<void> {
    for (const kind of ['discovered', 'disappeared'] as const) {
      const nodes = [...this.waiting[kind]].sort();
      this.waiting[kind].clear();
      if (nodes.length > 0) await this.store.bus.emit(kind, 'fleet', { nodes });
    }
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InventoryStore } from '../store/inventory-store.js';

const WINDOW_MS = 600_000;

/** Counts returns as this process sees them, on its own clock; a restart begins anew, which errs towards serving. */
@Injectable()
export class FlapWatch implements OnApplicationShutdown {
  private readonly seen = new Map<string, { last: number; times: number[] }>();
  private readonly stop: () => void;

  constructor(private readonly store: InventoryStore) {
    for (const { key, value } of store.nodes.view.entries())
      if (value.pendingReturn) this.seen.set(key, { last: value.pendingReturn.at, times: [] });
    this.stop = store.nodes.view.onChange((name, node) => {
      if (node?.pendingReturn) this.note(name, node.pendingReturn.at);
    });
  }

  /** Returns in the last ten minutes. */
  count(name: string): number {
    const now = this.store.clock.monotonicMs();
    return (this.seen.get(name)?.times ?? []).filter((t) => now - t < WINDOW_MS).length;
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** `at` tells one return from the next; it is not compared with any clock. */
  private note(name: string, at: number): void {
    const known = this.seen.get(name);
    if (known?.last === at) return;
    const now = this.store.clock.monotonicMs();
    const times = (known?.times ?? []).filter((t) => now - t < WINDOW_MS);
    this.seen.set(name, { last: at, times: [...times, now] });
  }
}

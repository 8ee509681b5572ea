import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { MANAGEMENT, type NodeRecord } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';

/** Since when nodes are cut from their management network, on this process's own clock. */
@Injectable()
export class DegradedClock implements OnApplicationShutdown {
  /** `undefined`: it was so when this process started, so how long is not known. */
  private readonly since = new Map<string, number | undefined>();
  private readonly stop: () => void;

  constructor(private readonly store: InventoryStore) {
    for (const e of store.nodes.view.entries()) if (isCut(e.value)) this.since.set(e.key, undefined);
    this.stop = store.nodes.view.onChange((name, node) => {
      if (node === undefined || !isCut(node)) this.since.delete(name);
      else if (!this.since.has(name)) this.since.set(name, this.store.clock.monotonicMs());
    });
  }

  /** ms; undefined: not known, or not cut. */
  forMs(name: string): number | undefined {
    const since = this.since.get(name);
    return since === undefined ? undefined : this.store.clock.monotonicMs() - since;
  }

  onApplicationShutdown(): void {
    this.stop();
  }
}

const isCut = (n: NodeRecord): boolean => n.verdict?.verdict === 'DEGRADED' && n.verdict.networks.includes(MANAGEMENT);

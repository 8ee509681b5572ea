import { Injectable } from '@nestjs/common';
import { InventoryStore } from '../store/inventory-store.js';
import { ageMs, type AgeMs } from './ages.js';

/** When a job was refused that the conductor itself has asked for, on this process's own clock. */
@Injectable()
export class Refusals {
  /** Cause and node → monotonic ms. */
  private readonly last = new Map<string, number>();

  constructor(private readonly store: InventoryStore) {}

  note(cause: string, node: string): void {
    this.last.set(keyOf(cause, node), this.store.clock.monotonicMs());
  }

  forget(cause: string, node: string): void {
    this.last.delete(keyOf(cause, node));
  }

  /** Since the last one; undefined: none, or one was accepted since. */
  agoMs(cause: string, node: string): AgeMs | undefined {
    const at = this.last.get(keyOf(cause, node));
    return at === undefined ? undefined : ageMs(this.store.clock.monotonicMs() - at);
  }
}

const keyOf = (cause: string, node: string): string => `${cause}/${node}`;

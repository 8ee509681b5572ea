import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * How long ago this process has seen an incident, each of its offs, and its proof: from the start of the process on.
 * undefined is the age of what was there when it began.
 */
@Injectable()
export class IncidentAges implements OnApplicationShutdown {
  private readonly seen: AgeBook;
  /** What was there when this process began: how old it is it does not know. */
  private readonly older = new Set<string>();
  /** Node → what its incident has. */
  private readonly known = new Map<string, readonly string[]>();
  private readonly stop: () => void;

  constructor(store: InventoryStore) {
    this.seen = new AgeBook(store.clock);
    for (const { key: node, value } of store.incidents.view.entries()) {
      for (const key of keysOf(value)) this.older.add(key);
      this.see(node, keysOf(value));
    }
    this.stop = store.incidents.view.onChange((node, i) => this.see(node, i === undefined ? [] : keysOf(i)));
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  openedAgoMs(i: IncidentRecord): number | undefined {
    return this.agoMs(i.id);
  }

  /** Of each off that was given to the devices as they are now. */
  offsAgoMs(i: IncidentRecord): (number | undefined)[] {
    return offsOf(i).map((off) => this.agoMs(off));
  }

  /** Undefined also where it has none. */
  provenAgoMs(i: IncidentRecord): number | undefined {
    const proof = proofOf(i);
    return proof === undefined ? undefined : this.agoMs(proof);
  }

  private agoMs(key: string): number | undefined {
    return this.older.has(key) ? undefined : this.seen.ageMs(key);
  }

  private see(node: string, keys: readonly string[]): void {
    for (const key of this.known.get(node) ?? [])
      if (!keys.includes(key)) {
        this.seen.forget(key);
        this.older.delete(key);
      }
    for (const key of keys) if (!this.older.has(key)) this.seen.see(key);
    if (keys.length === 0) this.known.delete(node);
    else this.known.set(node, keys);
  }
}

/** A record of which that cannot be said fails wherever something is decided about it, and no other one with it. */
function unlessOdd<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const keysOf = (i: IncidentRecord): string[] => [i.id, ...(unlessOdd(() => offsOf(i)) ?? []), proofOf(i) ?? []].flat();

const offsOf = (i: IncidentRecord): string[] =>
  i.commands.filter((c) => c.verb === 'off' && c.n > (i.devicesAfter ?? 0)).map((c) => `${i.id}/${c.n}`);

const proofOf = (i: IncidentRecord): string | undefined => unlessOdd(() => i.proof && `${i.id}/proof/${i.proof.at}`);

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';

/** Keeps what tells whether a power-off has hit another node than the one that it was for: from the start of the process on. */
@Injectable()
export class CollateralWatch implements OnApplicationShutdown {
  private readonly offs: AgeBook;
  /** Offs that were there when this process began: how old they are it does not know. */
  private readonly older = new Set<string>();
  /** Node → the offs of its incident. */
  private readonly known = new Map<string, readonly string[]>();
  private readonly stop: () => void;

  constructor(store: InventoryStore) {
    this.offs = new AgeBook(store.clock);
    for (const { key: node, value } of store.incidents.view.entries()) {
      for (const off of offsOf(value)) this.older.add(off);
      this.see(node, offsOf(value));
    }
    this.stop = store.incidents.view.onChange((node, i) => this.see(node, i === undefined ? [] : offsOf(i)));
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Since this process saw each `off` of the incident, ms; undefined: it was there when the process began. */
  offsAgoMs(i: IncidentRecord): (number | undefined)[] {
    return offsOf(i).map((off) => (this.older.has(off) ? undefined : this.offs.ageMs(off)));
  }

  private see(node: string, offs: readonly string[]): void {
    for (const off of this.known.get(node) ?? [])
      if (!offs.includes(off)) {
        this.offs.forget(off);
        this.older.delete(off);
      }
    for (const off of offs) if (!this.older.has(off)) this.offs.see(off);
    if (offs.length === 0) this.known.delete(node);
    else this.known.set(node, offs);
  }
}

/** The offs that were given to the devices as they are now. */
const offsOf = (i: IncidentRecord): string[] =>
  i.commands.filter((c) => c.verb === 'off' && c.n > (i.devicesAfter ?? 0)).map((c) => `${i.id}/${c.n}`);

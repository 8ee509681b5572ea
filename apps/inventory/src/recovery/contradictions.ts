import { Injectable } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { AgeBook } from '../incidents/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { isAfterOff, isContradicted } from './contradiction.js';
import { ReportsView } from './reports-view.js';

/** Incidents whose proof of off the node itself contradicts, as this process hears it. */
@Injectable()
export class Contradictions {
  private readonly provenSince: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
  ) {
    this.provenSince = new AgeBook(store.clock);
  }

  /** To be asked each round: what was never seen is as young as can be. */
  now(): IncidentRecord[] {
    const after = this.store.incidents.view
      .entries()
      .map((e) => e.value)
      .filter(isAfterOff);
    this.provenSince.keep(after.map((i) => i.id));
    return after.filter((i) => {
      const agoMs = this.reports.ageMs(i.node);
      const bootId = this.reports.of(i.node)?.report.bootId;
      const heard = agoMs === undefined || bootId === undefined ? undefined : { bootId, agoMs };
      return isContradicted(i, this.provenSince.ageMs(i.id), heard);
    });
  }

  /** Workload → the node that it was taken from, and that may still run it. */
  barred(): Map<string, string> {
    return new Map(this.now().flatMap((i) => i.recovery.map((r): [string, string] => [r.workload, i.node])));
  }
}

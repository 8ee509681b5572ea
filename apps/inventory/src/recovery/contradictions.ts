import { Injectable } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { AgeBook } from '../ages/age-book.js';
import { isContradicted } from '../power/contradiction.js';
import { barredBy } from '../plan/workloads/barred.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ReportsView } from '../reports/reports-view.js';

/** Incidents whose proof of off the node itself contradicts, as this process hears it. */
@Injectable()
export class Contradictions {
  private readonly provenSince: AgeBook;
  /** Incident → the report that contradicted it first: one that comes after it was not on its way all the while. */
  private readonly firstWord = new Map<string, number>();

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

  /** Those of {@link now} whose node has gone on speaking: their proof is void. */
  certain(now: readonly IncidentRecord[]): IncidentRecord[] {
    const ids = new Set(now.map((i) => i.id));
    for (const id of this.firstWord.keys()) if (!ids.has(id)) this.firstWord.delete(id);
    return now.filter((i) => {
      const seq = this.reports.of(i.node)?.report.seq ?? 0;
      const first = this.firstWord.get(i.id);
      if (first === undefined) this.firstWord.set(i.id, seq);
      return first !== undefined && seq > first;
    });
  }

  /** Workload → the node that it was taken from, and that may still run it. */
  barred(): ReadonlyMap<string, string> {
    return barredBy(
      this.now(),
      this.store.incidents.view.entries().map((e) => e.value),
    );
  }
}

import { Injectable } from '@nestjs/common';
import { isOrderDue } from '#domain/incident/order.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgeBook } from '../ages/age-book.js';
import { IncidentService } from './incident.service.js';
import { lapsed } from '#domain/power/power-order.js';

/** An order that nobody has carried out by then is void, ms: it must not take effect when a fencer starts hours later. */
export const ORDER_LAPSES_MS = 120_000;

/** Ends orders to power devices that no fencer carries out. */
@Injectable()
export class PowerOrderReconciler implements Reconciler {
  private readonly since: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
  ) {
    this.since = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const waiting = this.store.incidents.view
      .entries()
      .map((e) => e.value)
      .filter(isOrderDue);
    this.since.keep(waiting.map((i) => `${i.id}/${i.order?.at ?? 0}`));
    for (const i of waiting) {
      const { order } = i;
      if (order === undefined || this.since.ageMs(`${i.id}/${order.at}`) < ORDER_LAPSES_MS) continue;
      await this.incidents.change(i.node, i.id, (now) => {
        c.check();
        return lapsed(now, order);
      });
    }
  }
}

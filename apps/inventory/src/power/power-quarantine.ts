import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { isOrderDue } from '#domain/incident/order.js';
import { AgeBook } from '../ages/age-book.js';
import { quarantineLeftMs, quarantineOver } from '#domain/power/quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * A power command may take effect long after it was given. Until W has passed on this process's own clock since it saw
 * the command (and again since it saw its end), a node is not set up and not taken back. A process that has just
 * started has seen nothing yet, so it waits W for every node that was ever powered off by an incident it can read.
 */
@Injectable()
export class PowerQuarantine implements OnApplicationShutdown {
  private readonly seen: AgeBook;
  private readonly stop: () => void;

  constructor(private readonly store: InventoryStore) {
    this.seen = new AgeBook(store.clock);
    for (const e of store.incidents.view.entries()) quarantineOver(e.value, this.seen);
    this.stop = store.incidents.view.onChange((_node, incident) => {
      if (incident) quarantineOver(incident, this.seen);
    });
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Why the node must be left alone now, by the view; undefined: it need not. */
  reason(node: string): string | undefined {
    const incident = this.store.incidents.view.get(node)?.value;
    return incident && this.reasonOf(incident);
  }

  /** The same, by a record that was read: for a decision that the view may be behind of. */
  reasonOf(incident: IncidentRecord): string | undefined {
    if (incident.unreadable !== undefined) return 'the record of its incident cannot be read';
    // What is set up meanwhile would be cut short; of an incident that is under way the order is not due yet.
    if (isOrderDue(incident))
      return `power ${incident.order?.action ?? ''} was ordered by ${incident.order?.by ?? ''}, and is not done yet`;
    return quarantineOver(incident, this.seen)
      ? undefined
      : `a power-off of incident ${incident.id} may still take effect`;
  }

  /** Until the last `off` of the incident can take effect no more, by this process's own clock, ms; 0: it cannot. */
  leftMs(incident: IncidentRecord): number {
    return quarantineLeftMs(incident, this.seen);
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { isOrderDue } from '#domain/incident/pending-order.js';
import { AgeBook } from '../ages/age-book.js';
import { quarantineLeftMs, quarantineOver } from '#domain/power/quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * A BMC may carry out a command later than it was given. A node is not set up and not taken back before its power
 * quarantine has passed on this process's own clock, since it saw the command and again since it saw its end. A process
 * that has just started has seen nothing yet: it waits so long for every node that an incident which it can read has
 * powered off.
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

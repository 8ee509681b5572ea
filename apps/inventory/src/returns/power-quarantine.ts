import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AgeBook } from '../incidents/age-book.js';
import { quarantineOver } from '../incidents/quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * A power command may take effect long after it was given. Until W has passed on this process's own clock since it saw
 * the command (and again since it saw its end), a node is not set up and not taken back. A process that has just
 * started has seen nothing yet, so it waits W for every node that was ever powered off by an incident it can read.
 */
@Injectable()
export class PowerQuarantine implements OnApplicationShutdown {
  private readonly seen = new AgeBook();
  private readonly stop: () => void;

  constructor(private readonly store: InventoryStore) {
    for (const e of store.incidents.view.entries()) quarantineOver(e.value, this.seen);
    this.stop = store.incidents.view.onChange((_node, incident) => {
      if (incident) quarantineOver(incident, this.seen);
    });
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Why the node must be left alone now; undefined: it need not. */
  reason(node: string): string | undefined {
    const incident = this.store.incidents.view.get(node)?.value;
    if (!incident || quarantineOver(incident, this.seen)) return undefined;
    return `a power-off of incident ${incident.id} may still take effect`;
  }
}

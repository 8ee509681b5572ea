import { Injectable } from '@nestjs/common';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { capacityOf, isReserve, type Host } from './placement.js';

/** The nodes as placement sees them, as of now. */
@Injectable()
export class HostsView {
  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
  ) {}

  hosts(): Host[] {
    const used = new Map<string, number>();
    const take = (node: string, weight: number): void => void used.set(node, (used.get(node) ?? 0) + weight);
    for (const { value: w } of this.store.workloads.view.entries()) {
      // One that is on its way down takes its room until its node has read back that it is gone.
      if (w.assignment !== undefined && (w.desired === 'running' || w.stop !== undefined))
        take(w.assignment.node, w.weight);
      // And where it is to go, nobody else may take the room that it was stopped for.
      if (w.move !== undefined && w.assignment?.node === w.move.from) take(w.move.to, w.weight);
    }
    return this.store.nodes.view
      .entries()
      .map(({ value: n }) => ({
        name: n.name,
        hostGroup: n.hostGroup,
        capacity: capacityOf(n.vars),
        used: used.get(n.name) ?? 0,
        reserve: isReserve(n.vars),
        out: this.whyOut(n.name),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Why nothing may be started there; undefined: in service. */
  whyOut(node: string): string | undefined {
    const record = this.store.nodes.view.get(node)?.value;
    if (record === undefined) return 'is not known';
    if (!record.enrolled) return 'runs no agent: its start gate could not be asked';
    return this.service.reasons(record)[0]?.detail;
  }
}

import { Injectable } from '@nestjs/common';
import type { OutReason } from '#contracts';
import { capacityOf, isReserve, weights, type Host } from '#domain/workload/placement.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { StartFactsService } from '../reports/start-facts.js';

/** The nodes as placement sees them, as of now. */
@Injectable()
export class HostsView {
  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
    private readonly facts: StartFactsService,
  ) {}

  hosts(): Host[] {
    const used = weights(this.store.workloads.view.entries().map((e) => e.value));
    return this.store.nodes.view
      .entries()
      .map(({ value: n }) => ({
        name: n.name,
        hostGroup: n.hostGroup,
        capacity: capacityOf(n.vars),
        used: used.get(n.name) ?? 0,
        reserve: isReserve(n.vars),
        out: this.whyOut(n.name) ?? this.facts.whyMute(n.name),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A detector that sees is heard, and a live worker for each driver: nobody's word lacks but that of nodes. */
  allTell(): boolean {
    return this.service.sighted && this.service.missingDrivers().length === 0;
  }

  /** Why nothing may be placed there; undefined: in service. */
  whyOut(node: string): string | undefined {
    return this.why(node, () => true);
  }

  /** Why what is assigned there may not be started. A claim that came after it keeps others away, not that. */
  whyNotStart(node: string): string | undefined {
    const { job, periodic, edit, claim } = this.store.held[node] ?? {};
    const onlyClaimed = claim !== undefined && (job === undefined || periodic === true) && edit === undefined;
    return this.why(node, (code) => code !== 'RESERVED' || !onlyClaimed);
  }

  private why(node: string, counts: (code: OutReason['code']) => boolean): string | undefined {
    const record = this.store.nodes.view.get(node)?.value;
    if (record === undefined) return 'is not known';
    if (!record.enrolled) return 'runs no agent: its start gate could not be asked';
    return this.service.reasons(record).find((r) => counts(r.code))?.detail;
  }
}

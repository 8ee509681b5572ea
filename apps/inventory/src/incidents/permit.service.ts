import { Injectable } from '@nestjs/common';
import { PERMITS_KEY, isOpenIncident, type IncidentRecord, type NodeRecord } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';
import { GateFactsService } from './gate-facts.js';
import { decidePermit, type PermitDecision } from './permits.js';

/** Takes permits: the storm gates are asked again inside the compare-and-set, over the permits as they are then. */
@Injectable()
export class PermitService {
  constructor(
    private readonly store: InventoryStore,
    private readonly facts: GateFactsService,
  ) {}

  /** @param check called before each try; throws where the right to decide is gone */
  async take(i: IncidentRecord, node: NodeRecord, check: () => void): Promise<PermitDecision> {
    let decision: PermitDecision | undefined;
    await this.store.permits.bucket.mutate(PERMITS_KEY, (current) => {
      check();
      const storm = this.facts.storm();
      if (storm === undefined) {
        const detail = 'A view of the records has a gap: it is not known how many others are in trouble.';
        const gate = { gate: 'BRAKE', pass: false, detail } as const;
        decision = { granted: false, gate, results: [gate] };
        return undefined;
      }
      const open = this.store.incidents.view
        .entries()
        .map((e) => e.value)
        .filter(isOpenIncident);
      decision = decidePermit(current?.value, {
        incident: i.id,
        node,
        storm,
        released: i.released?.gates ?? [],
        open: new Set(open.map((x) => x.id)),
        ageMs: (incident) => this.facts.permitAgeMs(incident),
        at: this.store.clock.wallMs(),
      });
      return decision.granted ? decision.permits : undefined;
    });
    // mutate has called the function at least once.
    return decision as PermitDecision;
  }

  /** The incident has one, as last seen. */
  has(incident: string): boolean {
    return this.store.grantedPermits.some((g) => g.incident === incident);
  }
}

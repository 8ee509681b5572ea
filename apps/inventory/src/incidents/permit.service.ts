import { Injectable } from '@nestjs/common';
import { PERMITS_KEY, type IncidentRecord, type NodeRecord, type Permits, type StormTrip } from '#contracts';
import type { Fleet } from '../snapshot/fleet.js';
import { InventoryStore } from '../store/inventory-store.js';
import { GateFactsService } from './gate-facts.js';
import { decidePermit, type PermitDecision } from '#domain/incident/permits.js';
import { stormId } from '#domain/incident/storm.js';

/** Writes permits and storms: both are decided inside one compare-and-set, over the record as it is then. */
@Injectable()
export class PermitService {
  constructor(
    private readonly store: InventoryStore,
    private readonly facts: GateFactsService,
  ) {}

  /** @param check called before each try; throws where the right to decide is gone */
  async acquire(i: IncidentRecord, node: NodeRecord, check: () => void): Promise<PermitDecision> {
    let decision: PermitDecision | undefined;
    await this.store.permits.bucket.mutate(PERMITS_KEY, (current) => {
      check();
      decision = this.decide(current?.value, i, node);
      return decision.permits;
    });
    // mutate has called the function at least once.
    return decision as PermitDecision;
  }

  /** What would be decided, by the permits as last seen: nothing is written. */
  preview(i: IncidentRecord, node: NodeRecord): PermitDecision {
    return this.decide(this.store.permits.view.get(PERMITS_KEY)?.value, i, node);
  }

  private decide(current: Permits | undefined, i: IncidentRecord, node: NodeRecord): PermitDecision {
    const facts = this.facts.permits(() => stormId(this.store.random.uuid()));
    if (facts === undefined) {
      const detail = 'A view of the records has a gap: it is not known how many others are silent or in an incident.';
      const gate = { gate: 'BRAKE', pass: false, detail } as const;
      return { granted: false, permits: undefined, gate, results: [gate] };
    }
    return decidePermit(current, { ...facts, incident: i.id, node, released: i.released?.gates ?? [] });
  }

  /**
   * Nothing is read where there is nothing to write by what was last seen.
   * @param decide called with the fleet as of each try
   * @param check called before each try; throws where the right to decide is gone
   * @returns whether it was written
   */
  async change(
    decide: (now: Permits | undefined, fleet: Fleet) => Permits | undefined,
    check: () => void,
  ): Promise<boolean> {
    if (decide(this.store.permits.view.get(PERMITS_KEY)?.value, this.facts.seen()) === undefined) return false;
    const { changed } = await this.store.permits.bucket.mutate(PERMITS_KEY, (current) => {
      check();
      return decide(current?.value, this.facts.seen());
    });
    return changed;
  }

  /** Changes storms by an operator's word. */
  async changeTrips(fn: (trips: readonly StormTrip[]) => StormTrip[]): Promise<void> {
    await this.store.permits.bucket.mutate(PERMITS_KEY, (current) =>
      current === undefined ? undefined : { ...current.value, trips: fn(current.value.trips ?? []) },
    );
  }
}

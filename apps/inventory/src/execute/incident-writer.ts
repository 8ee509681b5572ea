import { Injectable } from '@nestjs/common';
import { IncidentService } from '../incidents/incident.service.js';
import { PermitService } from '../incidents/permit.service.js';
import type { ChangeIncident, KeepPermits, Moment, OpenIncident, TakePermit } from '../plan/intent.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { InventoryStore } from '../store/inventory-store.js';
import { followedBy, isWritten, NOTHING, type Right, type Written } from './written.js';

/** The most that what follows an incident waits for the view to show it, ms: it does within a few. */
const SHOWN_MS = 1_000;

/** Writes incidents, and the permits that let one go on to an `off`. */
@Injectable()
export class IncidentWriter {
  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
    private readonly permits: PermitService,
    private readonly fleets: FleetSource,
  ) {}

  async change(i: ChangeIncident, at: Moment, c: Right): Promise<Written> {
    const changed = await this.incidents.change(i.key, i.id, (now) => {
      c.check();
      return i.decide(now, at);
    });
    if (changed === undefined) return NOTHING;
    const next = i.followedBy?.(changed) ?? [];
    if (next.length > 0) await this.store.incidents.view.shows(changed.revision, SHOWN_MS);
    return { isWritten: true, next, isAtOnce: true };
  }

  async open(i: OpenIncident, at: Moment, c: Right): Promise<Written> {
    const { incident, joined } = await this.incidents.openOrJoin(i.make(at), {
      check: () => void c.check(),
      keeps: (over) => i.keeps(over, at),
    });
    return joined ? NOTHING : followedBy(i.followedBy(incident));
  }

  async takePermit(i: TakePermit, c: Right): Promise<Written> {
    const decision = await this.permits.acquire(i.incident, i.node, () => void c.check());
    return { isWritten: decision.granted, next: i.followedBy(decision) };
  }

  async keepPermits(i: KeepPermits, at: Moment, c: Right): Promise<Written> {
    const isChanged = await this.permits.change(
      (now, fleet) => i.decide(now, { ...at, fleet }),
      () => void c.check(),
    );
    if (i.checkpoints) this.fleets.storms.checkpointed();
    return isWritten(isChanged);
  }
}

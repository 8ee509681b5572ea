import { createHash } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { MusterError, type EventMap, type IncidentRecord, type IncidentStep } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';

/** A new conductor tells again what is this young: the stream drops what was told before (two minutes by id). */
const RETELL_MS = 60_000;

/**
 * One event for each step of each incident, whoever wrote the step (conductor, fencing leader, operator): told from
 * the record, so that no step is lost between its write and its event.
 */
@Injectable()
export class IncidentTeller implements Reconciler, OnApplicationBootstrap {
  readonly name = 'incident-events';
  /** Incident id → steps that were told. */
  private readonly told = new Map<string, Set<string>>();

  constructor(
    private readonly store: InventoryStore,
    conductor: ConductorService,
  ) {
    conductor.add(this);
  }

  onApplicationBootstrap(): void {
    // What ended long before this process started is nobody's news.
    for (const { value } of this.store.incidents.view.entries())
      this.told.set(value.id, olderSteps(value, this.store.clock.wallMs()));
  }

  async reconcile(_c: ConductorView): Promise<void> {
    const incidents = this.store.incidents.view.entries().map((e) => e.value);
    const ids = new Set(incidents.map((i) => i.id));
    for (const id of this.told.keys()) if (!ids.has(id)) this.told.delete(id);
    const failures: unknown[] = [];
    for (const i of incidents) await this.tell(i).catch((e: unknown) => failures.push(e));
    if (failures.length > 0)
      throw new MusterError('INTERNAL', `${failures.length} incident(s) could not be told`, {}, { cause: failures[0] });
  }

  private async tell(i: IncidentRecord): Promise<void> {
    let told = this.told.get(i.id);
    if (told === undefined) this.told.set(i.id, (told = new Set()));
    for (const step of i.steps) {
      const key = stepKey(step);
      if (told.has(key)) continue;
      const data: EventMap['incident'] = { node: i.node, incident: i.id, phase: step.phase, detail: step.detail };
      if (step.phase === 'suppressed' && i.gate !== undefined) data.gate = i.gate;
      await this.store.bus.emit('incident', i.node, data, { id: stepId(i, step) });
      told.add(key);
    }
  }
}

/** By its words: two steps of one phase may be written at the same moment. */
const stepKey = (s: IncidentStep): string => `${s.phase}.${s.at}.${s.detail}`;

const stepId = (i: IncidentRecord, s: IncidentStep): string =>
  `incident.${i.id}.${createHash('sha256').update(stepKey(s)).digest('hex').slice(0, 24)}`;

const olderSteps = (i: IncidentRecord, now: number): Set<string> =>
  new Set(i.steps.filter((s) => now - s.at > RETELL_MS).map(stepKey));

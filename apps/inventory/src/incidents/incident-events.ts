import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MusterError, type EventMap, type IncidentRecord, type IncidentStep } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { stepLevel, stepLine } from './step-log.js';

/**
 * In a new term a conductor tells what is this young, and what it could not tell in a former one. What is older the
 * conductor before it has told: the stream drops what is told again by its id, but for two minutes only.
 */
const RETELL_MS = 60_000;

/**
 * One event for each step of each incident, whoever wrote the step (conductor, fencing leader, operator): told from
 * the record, so that no step is lost between its write and its event. What is told is logged too: a new conductor
 * repeats the last minute's in its own log.
 */
@Injectable()
export class IncidentEvents implements Reconciler {
  /** Incident id → steps that were told. */
  private readonly told = new Map<string, Set<string>>();
  /** Steps that nobody else is known to have told: this process tried. */
  private readonly untold = new Set<string>();
  /** In which it told last. */
  private term?: number;

  constructor(private readonly store: InventoryStore) {}

  async reconcile(c: TaskRun): Promise<void> {
    const incidents = this.store.incidents.view.entries().map((e) => e.value);
    const ids = new Set(incidents.map((i) => i.id));
    for (const id of this.told.keys()) if (!ids.has(id)) this.told.delete(id);
    if (c.token !== this.term) for (const i of incidents) this.leaveToOthers(i);
    this.term = c.token;
    const failures: unknown[] = [];
    for (const i of incidents) await this.publish(i).catch((e: unknown) => failures.push(e));
    if (failures.length > 0)
      throw new MusterError('INTERNAL', `${failures.length} incident(s) could not be told`, {}, { cause: failures[0] });
  }

  private leaveToOthers(i: IncidentRecord): void {
    const now = this.store.clock.wallMs();
    const old = i.steps.filter((s) => now - s.at > RETELL_MS && !this.untold.has(stepId(i, s)));
    const told = this.told.get(i.id) ?? new Set();
    this.told.set(i.id, new Set([...told, ...old.map(stepKey)]));
  }

  private async publish(i: IncidentRecord): Promise<void> {
    let told = this.told.get(i.id);
    if (told === undefined) this.told.set(i.id, (told = new Set()));
    for (const step of i.steps) {
      const key = stepKey(step);
      if (told.has(key)) continue;
      const data: EventMap['incident'] = { node: i.node, incident: i.id, phase: step.phase, detail: step.detail };
      if (step.phase === 'suppressed' && i.gate !== undefined) data.gate = i.gate;
      const id = stepId(i, step);
      this.untold.add(id);
      await this.store.bus.emit('incident', i.node, data, { id });
      this.untold.delete(id);
      told.add(key);
      const { bus } = this.store;
      bus.log[stepLevel(step.phase)]({ node: i.node, incident: i.id }, stepLine(i, step));
    }
  }
}

/** By its words: two steps of one phase may be written at the same moment. */
const stepKey = (s: IncidentStep): string => `${s.phase}.${s.at}.${s.detail}`;

const stepId = (i: IncidentRecord, s: IncidentStep): string =>
  `incident.${i.id}.${createHash('sha256').update(stepKey(s)).digest('hex').slice(0, 24)}`;

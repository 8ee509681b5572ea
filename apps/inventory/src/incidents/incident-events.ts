import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MusterError, type EventMap, type IncidentRecord, type IncidentStep } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { stepLevel, stepLine } from './step-log.js';

/**
 * In a new term a conductor publishes what is this young, and what it could not publish in a former one. What is older
 * the conductor before it has published: the stream drops what comes again by its id, but for two minutes only.
 */
const REPUBLISH_MS = 60_000;

/**
 * One event for each step of each incident, whoever wrote the step (conductor, fencing leader, operator): published from
 * the record, so that no step is lost between its write and its event. What is published is logged too: a new conductor
 * repeats the last minute's in its own log.
 */
@Injectable()
export class IncidentEvents implements Reconciler {
  /** Incident id → steps that were published. */
  private readonly published = new Map<string, Set<string>>();
  /** Steps that nobody else is known to have published: this process tried. */
  private readonly unpublished = new Set<string>();
  /** In which it published last. */
  private term?: number;

  constructor(private readonly store: InventoryStore) {}

  async reconcile(c: TaskRun): Promise<void> {
    const incidents = this.store.incidents.view.entries().map((e) => e.value);
    const ids = new Set(incidents.map((i) => i.id));
    for (const id of this.published.keys()) if (!ids.has(id)) this.published.delete(id);
    if (c.token !== this.term) for (const i of incidents) this.leaveToOthers(i);
    this.term = c.token;
    const failures: unknown[] = [];
    for (const i of incidents) await this.publish(i).catch((e: unknown) => failures.push(e));
    if (failures.length > 0)
      throw new MusterError(
        'INTERNAL',
        `${failures.length} incident(s) could not be published`,
        {},
        { cause: failures[0] },
      );
  }

  private leaveToOthers(i: IncidentRecord): void {
    const now = this.store.clock.wallMs();
    const old = i.steps.filter((s) => now - s.at > REPUBLISH_MS && !this.unpublished.has(stepId(i, s)));
    const published = this.published.get(i.id) ?? new Set();
    this.published.set(i.id, new Set([...published, ...old.map(stepKey)]));
  }

  private async publish(i: IncidentRecord): Promise<void> {
    let published = this.published.get(i.id);
    if (published === undefined) this.published.set(i.id, (published = new Set()));
    for (const step of i.steps) {
      const key = stepKey(step);
      if (published.has(key)) continue;
      const data: EventMap['incident'] = { node: i.node, incident: i.id, phase: step.phase, detail: step.detail };
      if (step.phase === 'suppressed' && i.gate !== undefined) data.gate = i.gate;
      const id = stepId(i, step);
      this.unpublished.add(id);
      await this.store.bus.emit('incident', i.node, data, { id });
      this.unpublished.delete(id);
      published.add(key);
      const { bus } = this.store;
      bus.log[stepLevel(step.phase)]({ node: i.node, incident: i.id }, stepLine(i, step));
    }
  }
}

/** By its words: two steps of one phase may be written at the same moment. */
const stepKey = (s: IncidentStep): string => `${s.phase}.${s.at}.${s.detail}`;

const stepId = (i: IncidentRecord, s: IncidentStep): string =>
  `incident.${i.id}.${createHash('sha256').update(stepKey(s)).digest('hex').slice(0, 24)}`;

import { Injectable } from '@nestjs/common';
import type { IncidentRecord, NodeRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { runningBy } from '../plan/alarms/dead-work.js';
import { AgeBook } from '../ages/age-book.js';
import { bootMissed } from '#domain/power/boot-grace.js';
import { GateFactsService } from './gate-facts.js';
import { alarmsOf, FENCING_STUCK_MS, incidentAlarmCodes } from '../plan/incidents/incident-alarms.js';

/** Keeps the alarms that stand for incidents equal to what the incidents call for. */
@Injectable()
export class IncidentAlarmsReconciler implements Reconciler {
  private readonly orderedSince: AgeBook;
  /** Time in which the monitor did not see the fleet does not count: it could not have heard the node. */
  private readonly switchedOn: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly facts: GateFactsService,
    detector: DetectorView,
  ) {
    this.orderedSince = new AgeBook(store.clock);
    this.switchedOn = new AgeBook({ monotonicMs: () => detector.sightedMs });
  }

  async reconcile(c: TaskRun): Promise<void> {
    const incidents = this.store.incidents.view
      .entries()
      .map((e) => e.value)
      .filter((i) => !i.unreadable);
    this.orderedSince.keep(incidents.filter((i) => i.phase === 'fencing').map(order));
    const nodeOf = (node: string): NodeRecord | undefined => this.store.nodes.view.get(node)?.value;
    this.switchedOn.keep(incidents.flatMap((i) => bootMissed(i, nodeOf(i.node)) ?? []));
    // One that stands has waited for its grace, if in another process: a takeover must not end it.
    const told = new Set(this.alarms.list().flatMap((a) => (a.code === 'boot-timeout' ? [a.subject] : [])));
    const wanted = alarmsOf(
      incidents,
      nodeOf,
      (i) => this.orderedSince.ageMs(order(i)) > FENCING_STUCK_MS,
      (boot, node) => told.has(node) || this.switchedOn.ageMs(boot) >= this.store.clusterSettings.leaveGrace,
      this.facts.storms(),
      this.workOn(),
    );
    await keepAlarms(this.alarms, incidentAlarmCodes, wanted, () => void c.check());
  }

  /** Gathered when an alarm asks for it, once a round. */
  private workOn(): (node: string) => readonly string[] {
    let work: Map<string, string[]> | undefined;
    return (node) => {
      work ??= runningBy(this.store.workloads.view.entries().map((e) => e.value));
      return work.get(node) ?? [];
    };
  }
}

/** One order to fence: each attempt is its own. */
const order = (i: IncidentRecord): string => `${i.id}/${i.attempt}`;

import { Injectable } from '@nestjs/common';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { AgeBook } from '../ages/age-book.js';
import { alarmsOfIncidents, fencingOrders, missedBoots, type WaitAges } from '../plan/incidents/alarms-of-incidents.js';
import { incidentAlarmCodes } from '../plan/incidents/incident-alarms.js';
import { ageMs, type SightedMs } from '../snapshot/ages.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { GateFactsService } from './gate-facts.js';

/** Keeps the alarms that stand for incidents equal to what the incidents call for. */
@Injectable()
export class IncidentAlarmsReconciler implements Reconciler {
  private readonly orderedSince: AgeBook;
  /** On the clock that goes only while the monitor sees the fleet. */
  private readonly switchedOn: AgeBook;

  constructor(
    store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly facts: GateFactsService,
    private readonly fleets: FleetSource,
    detector: DetectorView,
  ) {
    this.orderedSince = new AgeBook(store.clock);
    this.switchedOn = new AgeBook({ monotonicMs: () => detector.sightedMs });
  }

  private readonly waits: WaitAges = {
    ofOrder: (order) => ageMs(this.orderedSince.ageMs(order)),
    ofBoot: (boot) => this.switchedOn.ageMs(boot) as SightedMs,
  };

  async reconcile(c: TaskRun): Promise<void> {
    const fleet = this.fleets.now(undefined, c.token);
    this.orderedSince.keep(fencingOrders(fleet));
    this.switchedOn.keep(missedBoots(fleet));
    const wanted = alarmsOfIncidents(fleet, this.waits, this.facts.storms());
    await keepAlarms(this.alarms, incidentAlarmCodes, wanted, () => void c.check());
  }
}

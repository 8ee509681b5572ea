import { Injectable } from '@nestjs/common';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { alarmsOf, incidentAlarmCodes } from './incident-alarms.js';

/** Keeps the alarms that stand for incidents equal to what the incidents call for. */
@Injectable()
export class IncidentAlarmsReconciler implements Reconciler {
  readonly name = 'incident-alarms';

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    conductor: ConductorService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    const wanted = alarmsOf(
      this.store.incidents.view.entries().map((e) => e.value),
      (node) => this.store.nodes.view.get(node)?.value.failureDomain ?? 'default',
    );
    await keepAlarms(this.alarms, incidentAlarmCodes, wanted, () => void c.check());
  }
}

import { Injectable } from '@nestjs/common';
import { AlarmService, isActive } from '../alarms/alarm.service.js';
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
    for (const a of wanted) {
      c.check();
      await this.alarms.raise(a.code, a.subject, a.severity, a.message);
    }
    const kept = new Set(wanted.map((a) => `${a.code}=${a.subject}`));
    for (const { value: a } of this.store.alarms.view.entries())
      if (isActive(a) && incidentAlarmCodes.includes(a.code) && !kept.has(`${a.code}=${a.subject}`)) {
        c.check();
        await this.alarms.clear(a.code, a.subject);
      }
  }
}

import { Injectable } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgeBook } from './age-book.js';
import { alarmsOf, FENCING_STUCK_MS, incidentAlarmCodes } from './incident-alarms.js';

/** Keeps the alarms that stand for incidents equal to what the incidents call for. */
@Injectable()
export class IncidentAlarmsReconciler implements Reconciler {
  readonly name = 'incident-alarms';
  private readonly orderedSince = new AgeBook();

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    conductor: ConductorService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    const incidents = this.store.incidents.view.entries().map((e) => e.value);
    this.orderedSince.keep(incidents.filter((i) => i.phase === 'fencing').map(order));
    const wanted = alarmsOf(
      incidents,
      (node) => this.store.nodes.view.get(node)?.value.failureDomain ?? 'default',
      (i) => this.orderedSince.ageMs(order(i)) > FENCING_STUCK_MS,
    );
    await keepAlarms(this.alarms, incidentAlarmCodes, wanted, () => void c.check());
  }
}

/** One order to fence: each attempt is its own. */
const order = (i: IncidentRecord): string => `${i.id}/${i.attempt}`;

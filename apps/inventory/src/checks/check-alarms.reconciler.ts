import { Injectable } from '@nestjs/common';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { checkAlarmCodes, returnAlarm, standingAlarm } from '../plan/check-alarms.js';
import { InventoryStore } from '../store/inventory-store.js';

/** One alarm for each return that waits for an operator or for ssh, and for what the check of a healthy node has found. */
@Injectable()
export class CheckAlarmsReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const at = this.store.clock.wallMs();
    const wanted = this.store.nodes.view.entries().flatMap(({ key: subject, value: n }) => {
      const alarm = n.pendingReturn === undefined ? standingAlarm(n, at) : returnAlarm(subject, n.pendingReturn);
      return alarm === undefined ? [] : [{ ...alarm, subject }];
    });
    await keepAlarms(this.alarms, checkAlarmCodes, wanted, () => void c.check());
  }
}

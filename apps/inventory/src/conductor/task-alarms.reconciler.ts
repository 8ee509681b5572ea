import { Injectable } from '@nestjs/common';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ConductorService } from './conductor.service.js';
import { isOver, taskAlarms } from './task-alarms.js';
import type { Reconciler, TaskRun } from './task.js';

/** Keeps the alarms about the tasks of this conductor, itself among them, equal to how they go. */
@Injectable()
export class TaskAlarmsReconciler implements Reconciler {
  private term: { token: number; began: number } | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly conductor: ConductorService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    if (this.term?.token !== c.token) this.term = { token: c.token, began: c.now };
    if (!this.store.alarms.view.live) return;
    const termMs = c.now - this.term.began;
    const tasks = this.conductor.failingTasks();
    await keepAlarms(
      this.alarms,
      ['task-failing'],
      taskAlarms(tasks),
      () => void c.check(),
      (a) => isOver(a.subject, tasks, termMs),
    );
  }
}

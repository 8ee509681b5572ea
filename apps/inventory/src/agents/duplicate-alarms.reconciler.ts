import { Injectable } from '@nestjs/common';
import type { AlarmRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';

/** A machine that was refused may be tried again by nobody: its alarm ends after a day, ms. */
const KEPT_MS = 86_400_000;

/** An alarm about something that happened once: over when somebody has seen it, its node is gone, or a day has passed. */
export const isOver = (a: AlarmRecord, isNode: (name: string) => boolean, now: number): boolean =>
  a.acknowledged !== undefined || !isNode(a.subject) || now - a.since > KEPT_MS;

@Injectable()
export class DuplicateAlarmsReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    if (!this.store.nodes.view.live || !this.store.alarms.view.live) return;
    const isNode = (name: string): boolean => this.store.nodes.view.get(name) !== undefined;
    for (const a of this.alarms.list().filter((alarm) => alarm.code === 'duplicate'))
      if (isOver(a, isNode, this.store.clock.wallMs())) {
        c.check();
        await this.alarms.clear(a.code, a.subject);
      }
  }
}

import { Injectable } from '@nestjs/common';
import { ungatedAfter, ungatedText } from '#domain/workload/start-gate.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { NodeService } from '../nodes/node.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { InventoryStore } from '../store/inventory-store.js';

/**
 * Keeps in each node's record what runs there without a start gate, and the alarm `workload-ungated`. It is stored, as it
 * must be known when the node says nothing any more, and to whoever conducts then.
 */
@Injectable()
export class StartGatesReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly alarms: AlarmService,
    private readonly facts: StartFactsService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    if (!this.store.nodes.view.live) return;
    for (const { node, workloads } of this.facts.fresh()) {
      const record = this.store.nodes.view.get(node)?.value;
      if (record === undefined || ungatedAfter(record.ungated, workloads) === undefined) continue;
      await this.nodes.change(node, (now) => {
        c.check();
        const is = ungatedAfter(now.ungated, workloads);
        if (is === undefined) return undefined;
        const { ungated: _was, ...rest } = now;
        return is.length === 0 ? rest : { ...rest, ungated: is };
      });
    }
    const wanted = this.store.nodes.view.entries().flatMap(({ key, value }): WantedAlarm[] => {
      const { ungated } = value;
      if (ungated === undefined) return [];
      const message = `${key}: ${ungatedText(ungated)}. A boot would start it beside its copy elsewhere, so Muster does not power ${key} on by itself.`;
      return [{ code: 'workload-ungated', subject: key, severity: 'warning', message }];
    });
    await keepAlarms(this.alarms, ['workload-ungated'], wanted, () => void c.check());
  }
}

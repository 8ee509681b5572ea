import { Injectable } from '@nestjs/common';
import { latestVerdict } from '#domain/verdict/latest-verdict.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { deadWithWork } from '../plan/alarms/dead-work.js';

/** Keeps alarm `dead-with-work` equal to what the fleet calls for. */
@Injectable()
export class DeadWorkReconciler implements Reconciler {
  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly detector: DetectorView,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const { nodes, workloads, incidents } = this.store;
    // Without a detector nobody is called dead, and what was stays so.
    if (!this.detector.fresh || !nodes.view.live || !workloads.view.live) return;
    const { beacon } = this.detector;
    const wanted = deadWithWork({
      nodes: nodes.view.entries().map((e) => e.value),
      workloads: workloads.view.entries().map((e) => e.value),
      verdictOf: (n) => latestVerdict(n, beacon),
      incidentOf: (node) => incidents.view.get(node)?.value,
    });
    await keepAlarms(this.alarms, ['dead-with-work'], wanted, () => void c.check());
  }
}

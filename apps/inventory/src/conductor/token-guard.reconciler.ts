import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { conductorFloor, detectorFloor, fencerFloor } from '#contracts';
import { Lease, type LeaseViewer } from '#bus';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import { InventoryStore } from '../store/inventory-store.js';
import type { Reconciler, TaskRun } from './task.js';
import { behindAlarms } from './token-guard.js';

/** Says where a holder's token is below what records hold. */
@Injectable()
export class TokenGuardReconciler implements Reconciler, OnApplicationBootstrap, OnApplicationShutdown {
  private leases: LeaseViewer | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.leases = await Lease.view(this.store.bus);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.leases?.close();
  }

  async reconcile(c: TaskRun): Promise<void> {
    const leases = this.leases?.list() ?? [];
    const { nodes, incidents, jobs } = this.store;
    if (!nodes.view.live || !incidents.view.live || !jobs.view.live) return;
    const open = incidents.view.entries().map((e) => e.value);
    const wanted = behindAlarms(leases, {
      conductor: conductorFloor(
        open,
        jobs.view.entries().map((e) => e.value),
      ),
      fencer: fencerFloor(open),
      detector: detectorFloor(nodes.view.entries().map((e) => e.value)),
    });
    await keepAlarms(this.alarms, ['token-behind'], wanted, () => void c.check());
  }
}

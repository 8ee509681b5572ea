import { Injectable, type OnModuleInit, type OnApplicationShutdown } from '@nestjs/common';
import { isOpenIncident, type StatusView } from '#contracts';
import { Lease, type LeaseViewer } from '#bus';
import { AlarmService } from '../alarms/alarm.service.js';
import { brakeLimit } from '../incidents/storm.js';
import { DetectorView } from '../monitor/detector-view.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';

/** One look at everything that a person asks first. */
@Injectable()
export class StatusService implements OnModuleInit, OnApplicationShutdown {
  private leases: LeaseViewer | undefined;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly service: ServiceView,
    private readonly alarms: AlarmService,
  ) {}

  async onModuleInit(): Promise<void> {
    this.leases = await Lease.view(this.store.bus);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.leases?.close();
  }

  status(): StatusView {
    const settings = this.store.clusterSettings;
    const nodes = this.service.list();
    const open = this.store.incidents.view.entries().filter((e) => isOpenIncident(e.value));
    return {
      cluster: settings.cluster,
      fencing: settings.fencing,
      leases: this.leases?.list() ?? [],
      detector: this.detectorPart(),
      brake: { candidates: this.candidates(open.map((e) => e.key)), limit: brakeLimit(this.members()) },
      nodes: {
        total: nodes.length,
        inService: nodes.filter((n) => n.inService).length,
        out: nodes
          .filter((n) => !n.inService)
          .map((n) => ({ node: n.name, reasons: n.reasons.map((r) => `${r.code}: ${r.detail}`) })),
      },
      incidents: open.map((e) => ({ ...e.value, revision: e.revision })),
      alarms: this.alarms.list(),
      missingDrivers: this.service.missingDrivers(),
      workers: this.store.workers.live(),
    };
  }

  private detectorPart(): StatusView['detector'] {
    const beacon = this.detector.beacon;
    const age = this.detector.ageMs;
    return {
      sighted: this.detector.sighted,
      members: beacon?.members ?? this.members(),
      reporters: beacon?.sightedReporters ?? 0,
      ...(beacon && { instance: beacon.instance, epoch: beacon.epoch }),
      ...(age !== undefined && { beaconAgeMs: Math.round(age) }),
    };
  }

  private members(): number {
    return this.store.nodes.view
      .entries()
      .filter(({ value: n }) => n.enrolled && n.cordon === undefined && n.confirmedOff === undefined).length;
  }

  /** Nodes in trouble as the beacon tells them, and open incidents. */
  private candidates(open: readonly string[]): number {
    const notUp = Object.entries(this.detector.beacon?.notUp ?? {});
    const silent = notUp.filter(([, v]) => v.verdict === 'SUSPECT' || v.verdict === 'DOWN').map(([node]) => node);
    return new Set([...silent, ...open]).size;
  }
}

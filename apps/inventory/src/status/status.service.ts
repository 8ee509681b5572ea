import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  fencingNow,
  isOpenIncident,
  type JobRecord,
  type NodeRecord,
  type StatusView,
  type UnhealthyNode,
} from '#contracts';
import { Lease, type LeaseViewer } from '#bus';
import { isMember } from '#domain/node/membership.js';
import { AlarmService, shownAlarm } from '../alarms/alarm.service.js';
import { ConductorService } from '../conductor/conductor.service.js';
import { fenceableView } from '../identity/fenceable.js';
import { GateFactsService } from '../incidents/gate-facts.js';
import { isInForce } from '../nodes/accepted-drift.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { ServiceView } from '../nodes/service-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { StandingService } from '../workloads/standing.service.js';
import { asLastSeen } from './as-last-seen.js';
import { outNodes } from './out-nodes.js';
import { unhealthyNodes } from './unhealthy-nodes.js';
import { weaknesses } from '../incidents/weaknesses.js';

/** One look at everything that a person asks first. */
@Injectable()
export class StatusService implements OnApplicationShutdown {
  private readonly leases: LeaseViewer;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly gates: GateFactsService,
    private readonly service: ServiceView,
    private readonly alarms: AlarmService,
    private readonly standing: StandingService,
    private readonly conductor: ConductorService,
  ) {
    this.leases = Lease.view(store.leases.view, store.clock);
  }

  onApplicationShutdown(): void {
    this.leases.close();
  }

  async status(): Promise<StatusView> {
    const tasks = await this.conductor.tasks();
    const settings = this.store.clusterSettings;
    const { watchGap: gap } = this.store;
    const nodes = asLastSeen(this.service.list(), gap);
    const storms = this.gates.storms();
    const busy = this.busy();
    const accepted = acceptedDrifts(nodes, this.store.clock.wallMs());
    const open = this.store.incidents.view.entries().filter((e) => isOpenIncident(e.value));
    return {
      cluster: settings.cluster,
      ...(gap !== undefined && { stale: gap }),
      fencing: fencingNow(settings.fencing, this.store.clock.wallMs()),
      leases: this.leases.list(),
      detector: this.detectorPart(),
      brake: this.gates.brake(),
      ...(storms.length > 0 && { storms }),
      nodes: {
        total: nodes.length,
        inService: nodes.filter((n) => n.inService).length,
        out: outNodes(nodes, (node) => busy.has(node)),
        troubled: this.unhealthy(nodes, busy),
        ...(accepted.length > 0 && { accepted }),
      },
      fenceable: fenceableView(nodes, (n) => this.gates.sharedPlace(n) !== undefined),
      incidents: open.map((e) => ({ ...e.value, revision: e.revision })),
      jobs: byStatus(this.store.jobs.view.entries().map((e) => e.value)),
      workloads: this.standing.summary(),
      weaknesses: weaknesses({ members: this.members(), witness: settings.witness ?? '' }),
      alarms: this.alarms.list().map(shownAlarm),
      missingDrivers: this.store.workers.stale ? [] : this.service.missingDrivers(),
      workers: this.store.workers.live(),
      ...(tasks !== undefined && { tasks }),
    };
  }

  /** Nodes that workloads are assigned to. */
  private busy(): Set<string> {
    return new Set(this.store.workloads.view.entries().flatMap((e) => e.value.assignment?.node ?? []));
  }

  private unhealthy(nodes: readonly NodeRecord[], busy: ReadonlySet<string>): UnhealthyNode[] {
    return unhealthyNodes(nodes, this.detector.current, (node) => busy.has(node));
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
    return this.store.nodes.view.entries().filter((e) => isMember(e.value)).length;
  }
}

function acceptedDrifts(nodes: readonly NodeRecord[], at: number): NonNullable<StatusView['nodes']['accepted']> {
  return nodes.flatMap(({ name, acceptedDrift: a }) => {
    if (!isInForce(a, at)) return [];
    const { by, reason, until } = a;
    return [
      { node: name, services: a.findings.map((f) => f.service), by, reason, ...(until !== undefined && { until }) },
    ];
  });
}

function byStatus(jobs: readonly JobRecord[]): StatusView['jobs'] {
  const counts = { Queued: 0, Running: 0, Complete: 0, Errored: 0 };
  for (const { status } of jobs) counts[status] += 1;
  return counts;
}

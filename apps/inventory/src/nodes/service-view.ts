import { Injectable } from '@nestjs/common';
import { isOpenIncident, type NodeRecord, type NodeView, type OutReason, type WorkerRecord } from '#contracts';
import type { Entry } from '#bus';
import { DetectorView } from '../monitor/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { outReasons } from './in-service.js';
import { powerDrivers } from './node-rules.js';

/** Nodes as shown to readers: the record plus what is computed at this moment. */
@Injectable()
export class ServiceView {
  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
  ) {}

  /** Why the node is out of service as of now; an empty list means in service. */
  reasons(n: NodeRecord): OutReason[] {
    const incident = this.store.incidents.view.get(n.name)?.value;
    const workers = this.store.workers;
    return outReasons(n, {
      incident: incident && isOpenIncident(incident) ? incident : undefined,
      hold: this.store.held[n.name],
      missingPowerDrivers: powerDrivers(n).filter((d) => !workers.offers('fencer', d)),
      provisionable: workers.offers('provisioner', n.provisionDriver),
      viewsLive: this.store.live,
      detectorSighted: this.detector.sighted,
    });
  }

  view(entry: Entry<NodeRecord>): NodeView {
    const reasons = this.reasons(entry.value);
    const { job, claim } = this.store.held[entry.value.name] ?? {};
    return {
      ...entry.value,
      revision: entry.revision,
      inService: reasons.length === 0,
      reasons,
      ...(job !== undefined && { job }),
      ...(claim !== undefined && { claim }),
      ...(entry.value.cordon?.drain === true && { remaining: this.assignedTo(entry.value.name) }),
    };
  }

  private assignedTo(node: string): string[] {
    const here = this.store.workloads.view.entries().filter((e) => e.value.assignment?.node === node);
    return here.map((e) => e.key).sort();
  }

  /** All, by name. */
  list(): NodeView[] {
    return this.store.nodes.view
      .entries()
      .map((e) => this.view(e))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Drivers that nodes need and no live worker of the right kind offers. */
  missingDrivers(): { driver: string; nodes: string[] }[] {
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const missing = new Map<string, string[]>();
    for (const n of nodes) for (const d of this.missingOf(n)) missing.set(d, [...(missing.get(d) ?? []), n.name]);
    return [...missing]
      .map(([driver, names]) => ({ driver, nodes: names.sort() }))
      .sort((a, b) => (a.driver < b.driver ? -1 : 1));
  }

  /** Drivers that live workers of the service offer; undefined: not known. */
  offered(service: WorkerRecord['service']): string[] | undefined {
    if (this.store.workers.stale) return undefined;
    const own = this.store.workers.live().filter((w) => w.service === service);
    return [...new Set(own.flatMap((w) => w.drivers))].sort();
  }

  private missingOf(n: NodeRecord): string[] {
    const missing = powerDrivers(n).filter((d) => !this.store.workers.offers('fencer', d));
    if (!this.store.workers.offers('provisioner', n.provisionDriver)) missing.push(n.provisionDriver);
    return missing;
  }
}

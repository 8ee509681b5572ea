import { Injectable } from '@nestjs/common';
import { outRemedy, type NodeRecord, type NodeView, type OutReason, type WorkerRecord } from '#contracts';
import type { Entry } from '#bus';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { missingDrivers, offersOf, type MissingDriver, type Offers } from './missing-drivers.js';
import { serviceReasons } from './service-reasons.js';
import { shownNode } from './shown-node.js';

/** What a view has beyond the record. */
type Computed = Omit<NodeView, keyof NodeRecord>;

export interface ServiceSnapshot {
  reasons(n: NodeRecord): OutReason[];
  computed(entry: Entry<NodeRecord>): Computed;
  /** The same, with what to do about each reason. */
  remedied(entry: Entry<NodeRecord>): Computed;
  view(entry: Entry<NodeRecord>): NodeView;
}

/** Nodes as shown to readers: the record without its secrets, plus what is computed at this moment. */
@Injectable()
export class ServiceView {
  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
  ) {}

  /**
   * Resolves once what answers rest on is known as well as it will be soon: to be awaited before an answer to a reader,
   * who would else be told of a moment's gap as if it were news of the nodes.
   */
  async whenKnown(): Promise<void> {
    await Promise.all([this.store.whenLive(), this.detector.whenKnown()]);
  }

  /** Why the node is out of service as of now; an empty list means in service. */
  reasons(n: NodeRecord): OutReason[] {
    return this.snapshot().reasons(n);
  }

  view(entry: Entry<NodeRecord>): NodeView {
    return this.snapshot().view(entry);
  }

  /** The same, with what to do about each reason. */
  withRemedies(entry: Entry<NodeRecord>): NodeView {
    return { ...shownNode(entry.value), ...this.snapshot().remedied(entry) };
  }

  /** For many nodes: what they share is computed once. Good for one answer, which it must not outlive. */
  snapshot(): ServiceSnapshot {
    const { store } = this;
    const { held } = store;
    const reasons = serviceReasons({
      nodes: () => store.nodes.view.entries().map((e) => e.value),
      incident: (node) => store.incidents.view.get(node)?.value,
      held,
      policy: store.clusterSettings.degraded.policy,
      gap: store.gap,
      detectorSighted: this.detector.sighted,
      offers: store.workers.stale ? undefined : this.offers(),
    });
    const computed = (entry: Entry<NodeRecord>): Computed => {
      const why = reasons(entry.value);
      const { job, claim } = held[entry.value.name] ?? {};
      return {
        revision: entry.revision,
        inService: why.length === 0,
        reasons: why,
        ...(job !== undefined && { job }),
        ...(claim !== undefined && { claim }),
        ...(entry.value.cordon?.drain === true && { remaining: this.assignedTo(entry.value.name) }),
      };
    };
    const remedied = (entry: Entry<NodeRecord>): Computed => {
      const made = computed(entry);
      return { ...made, reasons: made.reasons.map((r) => ({ ...r, remedy: outRemedy(r.code, entry.value) })) };
    };
    return { reasons, computed, remedied, view: (entry) => ({ ...shownNode(entry.value), ...computed(entry) }) };
  }

  private assignedTo(node: string): string[] {
    const here = this.store.workloads.view.entries().filter((e) => e.value.assignment?.node === node);
    return here.map((e) => e.key).sort();
  }

  /** All, by name. */
  list(): NodeView[] {
    const look = this.snapshot();
    return this.store.nodes.view
      .entries()
      .map((e) => look.view(e))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Drivers that nodes need and no live worker of the right kind offers. */
  missingDrivers(): MissingDriver[] {
    return missingDrivers(
      this.store.nodes.view.entries().map((e) => e.value),
      this.offers(),
    );
  }

  /** A detector is heard that sees the fleet. */
  get sighted(): boolean {
    return this.detector.sighted;
  }

  /** Drivers that live workers of the service offer; undefined: not known. */
  offered(service: WorkerRecord['service']): string[] | undefined {
    if (this.store.workers.stale) return undefined;
    const own = this.store.workers.live().filter((w) => w.service === service);
    return [...new Set(own.flatMap((w) => w.drivers))].sort();
  }

  private offers(): Offers {
    return offersOf(this.store.workers.live());
  }
}

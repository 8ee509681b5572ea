import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NodeRecord } from '#contracts';
import { isDegraded, networksDown } from '#domain/verdict/networks-out.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { degradedSteps, ownSilence, type DegradedStep } from './degraded-policy.js';

/** Of {@link DetectorView.sightedMs}: what passed before `from`, from when on it counts; absent: it does not now. */
interface Lasting {
  ms: number;
  from?: number;
}

/**
 * How long nodes have been seen DEGRADED, on this process's own clock: one that has just started has seen nothing yet, and
 * so waits the whole time again. A look that says nothing in between (SUSPECT, UNKNOWN) ends nothing; but time in which
 * nobody saw does not count: the node may have been well.
 */
@Injectable()
export class DegradedWatch implements OnApplicationShutdown {
  private readonly lasting = new Map<string, Lasting>();
  private readonly stop: () => void;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
  ) {
    for (const { key, value } of store.nodes.view.entries()) this.see(key, value);
    this.stop = store.nodes.view.onChange((name, node) => this.see(name, node));
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** What the policy has done now, by node; nothing while anything that it rests on is not known. */
  steps(): Map<string, DegradedStep> {
    // Most days nobody is DEGRADED: then nothing is looked at.
    if (this.lasting.size === 0) return new Map();
    const { nodes, settings, clusterSettings } = this.store;
    if (!nodes.view.live || !settings.view.live) return new Map();
    const all = nodes.view.entries().map((e) => e.value);
    this.beginAnew(all);
    return degradedSteps({
      policy: clusterSettings.degraded,
      sighted: this.detector.sighted,
      nodes: all,
      degradedForMs: (name) => this.forMs(name),
    });
  }

  /** A network that was down comes back node by node: those that are still silent on it then get their time from then on. */
  private beginAnew(all: readonly NodeRecord[]): void {
    const down = networksDown(all);
    if (down.size === 0) return;
    for (const n of all)
      if (isDegraded(n) && ownSilence(n, down).length === 0)
        this.lasting.set(n.name, { ms: 0, from: this.detector.sightedMs });
  }

  private see(name: string, node: NodeRecord | undefined): void {
    const says = node?.verdict?.verdict;
    const ms = this.forMs(name);
    if (node !== undefined && isDegraded(node)) {
      if (this.lasting.get(name)?.from === undefined) this.lasting.set(name, { ms, from: this.detector.sightedMs });
    } else if (says === 'UNKNOWN') {
      if (this.lasting.has(name)) this.lasting.set(name, { ms });
    } else if (says !== 'SUSPECT') this.lasting.delete(name);
  }

  private forMs(name: string): number {
    const { ms, from } = this.lasting.get(name) ?? { ms: 0 };
    return from === undefined ? ms : ms + this.detector.sightedMs - from;
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { NodeRecord } from '#contracts';
import { DetectorView } from '../monitor/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { degradedSteps, isDegraded, networksDown, ownSilence, type DegradedStep } from './degraded-policy.js';

/**
 * Since when nodes are DEGRADED, on this process's own clock: one that has just started has seen nothing yet, and so
 * waits the whole time again. A look that says nothing in between (SUSPECT, UNKNOWN) ends nothing.
 */
@Injectable()
export class DegradedWatch implements OnApplicationShutdown {
  private readonly since = new Map<string, number>();
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
    const { nodes, settings, clusterSettings } = this.store;
    if (!nodes.view.live || !settings.view.live) return new Map();
    const all = nodes.view.entries().map((e) => e.value);
    this.beginAnew(all);
    return degradedSteps({
      policy: clusterSettings.degraded,
      sighted: this.detector.sighted,
      nodes: all,
      degradedForMs: (name) => performance.now() - (this.since.get(name) ?? Infinity),
    });
  }

  /** A network that was down comes back node by node: those that are still silent on it then get their time from then on. */
  private beginAnew(all: readonly NodeRecord[]): void {
    const down = networksDown(all);
    if (down.size === 0) return;
    for (const n of all)
      if (isDegraded(n) && ownSilence(n, down).length === 0) this.since.set(n.name, performance.now());
  }

  private see(name: string, node: NodeRecord | undefined): void {
    const says = node?.verdict?.verdict;
    if (node !== undefined && isDegraded(node)) {
      if (!this.since.has(name)) this.since.set(name, performance.now());
    } else if (says !== 'SUSPECT' && says !== 'UNKNOWN') this.since.delete(name);
  }
}

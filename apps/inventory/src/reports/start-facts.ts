import { Injectable } from '@nestjs/common';
import { isOpenIncident, type NodeRecord, type Report } from '#contracts';
import { shouldReport } from '#domain/node/membership.js';
import { checkStart, mustAnswer, type StartCheck } from '#domain/workload/where-it-runs.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ReportsView } from './reports-view.js';

/** What every node says of itself, for the question whether a workload may be started. */
@Injectable()
export class StartFactsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
  ) {}

  check(workload: string, target: string): StartCheck {
    return checkStart({ workload, target, mustAnswer: this.mustAnswer(), fresh: this.fresh() });
  }

  /** Nodes that must say what they run before anything is started anywhere, and do not. */
  unanswered(): string[] {
    const answered = new Set(this.fresh().flatMap((r) => (r.workloads === undefined ? [] : [r.node])));
    return this.mustAnswer().filter((n) => !answered.has(n));
  }

  fresh(): Report[] {
    return this.reports.fresh(this.store.clusterSettings.detection.freshness);
  }

  /** The node's own fresh report. */
  of(node: string): Report | undefined {
    const age = this.reports.ageMs(node);
    return age !== undefined && age <= this.store.clusterSettings.detection.freshness
      ? this.reports.of(node)?.report
      : undefined;
  }

  /** The registry follows what is seen, unless the node it is seen on is one that nothing may run on. */
  mayFollow(seenOn: string): boolean {
    const node = this.store.nodes.view.get(seenOn)?.value;
    return node !== undefined && shouldReport(node) && this.store.incidents.view.live;
  }

  private mustAnswer(): string[] {
    let busy: Set<string | undefined> | undefined;
    const hasWork = (node: string): boolean => {
      busy ??= new Set(this.store.workloads.view.entries().map((e) => e.value.assignment?.node));
      return busy.has(node);
    };
    return this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => mustAnswer(n, this.isBeingFenced(n), this.of(n.name) !== undefined, () => hasWork(n.name)))
      .map((n) => n.name);
  }

  private isBeingFenced(n: NodeRecord): boolean {
    const incident = this.store.incidents.view.get(n.name)?.value;
    return (
      n.confirmedOff !== undefined ||
      (incident !== undefined && isOpenIncident(incident) && incident.unreadable === undefined)
    );
  }
}

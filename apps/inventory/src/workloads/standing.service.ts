import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  isFine,
  isOpenIncident,
  MOST_WRONG_WORKLOADS,
  type WithRevision,
  type WorkloadRecord,
  type WorkloadStanding,
  type WorkloadSummary,
  type WorkloadView,
} from '#contracts';
import { latestVerdict } from '#domain/verdict/latest-verdict.js';
import { isCancelledByOperator } from '../plan/incidents/operator-cancel.js';
import { isActive } from '../alarms/active.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ReportsView } from '../reports/reports-view.js';
import { workloadStanding, type AssignedNode } from './standing.js';

/** What is with every workload, as this process sees it now: to show, never to decide. */
@Injectable()
export class StandingService implements OnApplicationShutdown {
  /** Workload → when this process saw its record change, monotonic ms. */
  private readonly changedAt = new Map<string, number>();
  private readonly since: number;
  private readonly stop: () => void;

  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
    private readonly detector: DetectorView,
  ) {
    this.since = store.clock.monotonicMs();
    this.stop = store.workloads.view.onChange((name, value) =>
      value === undefined ? this.changedAt.delete(name) : this.changedAt.set(name, store.clock.monotonicMs()),
    );
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** For many workloads: what they share is gathered once. Good for one answer. */
  snapshot(): (w: WorkloadRecord) => WorkloadStanding {
    const { store } = this;
    const now = store.clock.monotonicMs();
    const seenOn = this.seenOn();
    const beacon = this.detector.current;
    const nodes = new Map<string, AssignedNode | undefined>();
    const nodeOf = (name: string): AssignedNode | undefined => {
      if (nodes.has(name)) return nodes.get(name);
      const record = store.nodes.view.get(name)?.value;
      const incident = store.incidents.view.get(name)?.value;
      const heard = this.reports.of(name);
      const node = record && {
        record,
        verdict: latestVerdict(record, beacon),
        incident: incident && (isOpenIncident(incident) || isCancelledByOperator(incident)) ? incident : undefined,
        report: heard && { ageMs: now - heard.heardAt, workloads: heard.report.workloads },
      };
      nodes.set(name, node);
      return node;
    };
    return (w) => {
      const at = w.assignment?.node;
      const roomless = store.alarms.view.get(`no-room=${w.name}`)?.value;
      return workloadStanding({
        workload: w,
        node: at === undefined ? undefined : nodeOf(at),
        elsewhere: seenOn.get(w.name)?.find((n) => n !== at),
        noRoom: w.assignment === undefined && roomless !== undefined && isActive(roomless),
        changedForMs: now - (this.changedAt.get(w.name) ?? this.since),
      });
    };
  }

  view(w: WithRevision<WorkloadRecord>): WithRevision<WorkloadView> {
    return { ...w, actual: this.snapshot()(w) };
  }

  summary(): WorkloadSummary {
    const look = this.snapshot();
    const all = this.store.workloads.view.entries().map((e) => ({ w: e.value, actual: look(e.value) }));
    const wrong = all
      .filter((x) => !isFine(x.actual.state))
      .sort((a, b) => b.w.priority - a.w.priority || (a.w.name < b.w.name ? -1 : 1));
    return {
      total: all.length,
      running: all.filter((x) => x.actual.state === 'running').length,
      wrong: wrong.length,
      worst: wrong.slice(0, MOST_WRONG_WORKLOADS).map(({ w, actual }) => ({
        workload: w.name,
        ...(w.assignment && { node: w.assignment.node }),
        actual,
      })),
    };
  }

  /** Workload → nodes whose fresh reports name it as running. */
  private seenOn(): Map<string, string[]> {
    const seen = new Map<string, string[]>();
    for (const report of this.reports.fresh(this.store.clusterSettings.detection.freshness))
      for (const run of report.workloads ?? []) {
        if (run.starting === true) continue;
        const on = seen.get(run.name);
        if (on) on.push(report.node);
        else seen.set(run.name, [report.node]);
      }
    return seen;
  }
}

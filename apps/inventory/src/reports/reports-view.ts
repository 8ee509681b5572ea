import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Subjects, parseReport, type AgentMetrics, type Report } from '#contracts';
import type { Closable } from '#bus';
import { isLateForWork, isSameProcess } from '#domain/verdict/report-order.js';
import { ServiceContext } from '#service';

export interface HeardReport {
  report: Report;
  /** When this process received it, monotonic ms. */
  heardAt: number;
  /** What it last told of itself: not every report does. Absent: this process has not told, as far as was heard. */
  metrics?: AgentMetrics;
  /** Its wall clock less this machine's when that came, ms. Absent: it does not tell. */
  clockOffMs?: number;
}

/**
 * The last report of each agent as this process heard it: what runs where, and who is certainly alive. It hears the
 * same broadcasts as the detector and votes on nothing.
 */
@Injectable()
export class ReportsView implements OnModuleInit, OnApplicationShutdown {
  private readonly last = new Map<string, HeardReport>();
  /** The last of each that says what runs there. */
  private readonly lists = new Map<string, HeardReport>();
  /** The last answer of {@link freshByNode}. */
  private answered: { maxAgeMs: number; oldestAt: number; reports: ReadonlyMap<string, Report> } | undefined;
  private subscription: Closable | undefined;
  /** Since when it listens, monotonic ms. */
  private readonly since: number;

  constructor(private readonly context: ServiceContext) {
    this.since = context.clock.monotonicMs();
  }

  onModuleInit(): void {
    this.subscription = this.context.bus.subscribe(Subjects.report('*'), (text, subject) => {
      const report = parseReport(text);
      if (report !== undefined && subject === Subjects.report(report.node))
        this.hear(report, this.context.clock.monotonicMs(), this.context.clock.wallMs());
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.subscription?.close();
  }

  /**
   * Each report arrives once per network: the first counts, an older one never replaces a newer one. A machine that
   * was installed anew counts from the start again: another boot is believed once the last report is old. Of two
   * machines that report one start in two boots (the monitor calls that CONFLICT) the first stays: what went back and
   * forth between them would look like reboots, of which each loses the workloads.
   */
  hear(report: Report, now: number, wallNow = NaN): void {
    const was = this.last.get(report.node);
    if (was !== undefined && isLateForWork({ report: was.report, ageMs: now - was.heardAt }, report)) return;
    const heard = { report, heardAt: now, ...toldOfItself(report, was, wallNow) };
    this.last.set(report.node, heard);
    this.answered = undefined;
    if (report.workloads !== undefined) this.lists.set(report.node, heard);
  }

  of(node: string): HeardReport | undefined {
    return this.last.get(node);
  }

  /** The last report of the node that says what runs there, however old. */
  lastList(node: string): HeardReport | undefined {
    return this.lists.get(node);
  }

  /** ms since the last report of the node; absent: none was heard since this process started. */
  ageMs(node: string): number | undefined {
    const heard = this.last.get(node);
    return heard && this.context.clock.monotonicMs() - heard.heardAt;
  }

  /** ms for which nothing was heard of the node while this process listened: what came before its start, it does not know. */
  unheardMs(node: string): number {
    return this.context.clock.monotonicMs() - (this.last.get(node)?.heardAt ?? this.since);
  }

  /** Reports that are at most `maxAgeMs` old. */
  fresh(maxAgeMs: number): Report[] {
    return [...this.freshByNode(maxAgeMs).values()];
  }

  /** The same by node. It is made anew once a report has come, or one of it is too old, and never changed. */
  freshByNode(maxAgeMs: number): ReadonlyMap<string, Report> {
    const now = this.context.clock.monotonicMs();
    const was = this.answered;
    if (was?.maxAgeMs === maxAgeMs && now - was.oldestAt <= maxAgeMs) return was.reports;
    const fresh = [...this.last.values()].filter((h) => now - h.heardAt <= maxAgeMs);
    const oldestAt = fresh.reduce((at, h) => Math.min(at, h.heardAt), Infinity);
    const reports = new Map(fresh.map((h) => [h.report.node, h.report]));
    this.answered = { maxAgeMs, oldestAt, reports };
    return reports;
  }
}

/** From this report, or else from an earlier one of the same process. */
function toldOfItself(
  report: Report,
  was: HeardReport | undefined,
  wallNow: number,
): Pick<HeardReport, 'metrics' | 'clockOffMs'> {
  const { metrics } = report.health;
  if (metrics !== undefined) {
    const off = metrics.wallMs === undefined ? NaN : metrics.wallMs - wallNow;
    return { metrics, ...(Number.isFinite(off) && { clockOffMs: Math.round(off) }) };
  }
  if (was === undefined || !isSameProcess(was.report, report)) return {};
  return {
    ...(was.metrics && { metrics: was.metrics }),
    ...(was.clockOffMs !== undefined && { clockOffMs: was.clockOffMs }),
  };
}

import type { AgentMetrics, Leaving, Report } from '#contracts/wire/report.js';
import type { AgentConfig } from '../config/agent-config.js';
import type { KeyRing } from '../keys/key-ring.js';
import type { LinkObservations } from '../links/link-observation.js';
import type { Membership } from '../membership/membership.js';
import type { KnownPeers } from '../peers/known-peers.js';
import type { DropCounters } from '../wire/drop-counters.js';
import type { Identities } from '../wire/identities.js';
import type { UdpSocket } from '../wire/udp-socket.js';
import { buildReport } from './build-report.js';
import { metricsOf, wireWarnings } from './own-health.js';
import { ReportTiming } from './report-timing.js';
import type { WorkloadWatch } from './workload-watch.js';

/** ms between two reports that carry metrics; the first does. */
const METRICS_PERIOD = 5_000;

/** What the probing tells a report. */
export interface ProbingState {
  readonly links: LinkObservations;
  readonly membership: Membership;
  readonly identities: Identities;
  /** By network. */
  readonly sockets: ReadonlyMap<string, UdpSocket>;
  /** Grows with each change that is reported at once. */
  readonly changes: number;
  /** Network → datagrams in a row that did not leave, to anybody; 0 where some do. */
  sendErrors(now: number): Record<string, number>;
}

export interface ReporterParts {
  config: Pick<AgentConfig, 'node' | 'networks'>;
  bootId: string;
  epoch: number;
  known: KnownPeers;
  prober: ProbingState;
  counters: DropCounters;
  workloads: Pick<WorkloadWatch, 'running' | 'warning'>;
  keys: Pick<KeyRing, 'ids' | 'warning'>;
  /** Of the peer list. */
  listWarning: () => string | undefined;
  /** Of the number of this start. */
  startWarning: () => string | undefined;
  publish: (report: Report) => void;
  /** Of the Muster that this agent came with. */
  version: string;
  /** Now, by the clock on the wall, ms. */
  wallMs: () => number;
}

/** When this agent reports, and what it then says of itself. */
export class Reporter {
  private readonly timing: ReportTiming;
  private seq = 0;
  private otherChanges = 0;
  private abstained = false;
  private gapMs = 0;
  private standstills = 0;
  private metricsAt = -Infinity;
  private leaving: Leaving | undefined;

  constructor(private readonly p: ReporterParts) {
    this.timing = new ReportTiming(() => p.known.detection.reportPeriod);
  }

  /** Something that others must hear at once, beside the links. */
  changed(): void {
    this.otherChanges++;
  }

  /** @param gapMs since the loop ran the last time */
  loopRan(gapMs: number): void {
    this.gapMs = Math.max(this.gapMs, gapMs);
  }

  stoodStill(): void {
    this.standstills++;
  }

  /** Reports where that is due. */
  step(now: number): void {
    const { prober } = this.p;
    if (prober.links.abstains(now) !== this.abstained) {
      this.abstained = !this.abstained;
      this.otherChanges++;
    }
    if (this.timing.due(now, prober.changes + this.otherChanges)) this.publish(now);
  }

  /** The last word. */
  farewell(leaving: Leaving, now: number): void {
    this.leaving = leaving;
    this.publish(now);
  }

  get isLeaving(): boolean {
    return this.leaving !== undefined;
  }

  /** The report as it would go out now, with its metrics. */
  current(now: number): Report {
    return this.report(now, this.seq, this.metrics());
  }

  private publish(now: number): void {
    const withMetrics = now - this.metricsAt >= METRICS_PERIOD;
    if (withMetrics) this.metricsAt = now;
    this.p.publish(this.report(now, ++this.seq, withMetrics ? this.metrics() : undefined));
    this.gapMs = 0;
  }

  private metrics(): AgentMetrics {
    const { links, membership, sockets } = this.p.prober;
    const rejoin = membership.diary.counts(membership.lostPeers().length);
    const self = { version: this.p.version, wallMs: Math.round(this.p.wallMs()) };
    return metricsOf(sockets.values(), this.p.counters, rejoin, this.standstills, links.unsentProbes, self);
  }

  private report(now: number, seq: number, metrics: AgentMetrics | undefined): Report {
    const { config, known, prober, workloads } = this.p;
    return buildReport({
      node: config.node,
      bootId: this.p.bootId,
      epoch: this.p.epoch,
      seq,
      listVersion: known.version,
      networks: known.networks,
      keys: this.p.keys.ids,
      peers: known.shared.keys(),
      links: prober.links,
      now,
      sendErrors: prober.sendErrors(now),
      loopGapMs: this.gapMs,
      warnings: [
        this.p.listWarning(),
        this.p.startWarning(),
        this.p.keys.warning,
        workloads.warning,
        ...wireWarnings(prober.sockets.values(), config.networks, known.list),
        ...prober.identities.warnings(now),
      ].filter((w) => w !== undefined),
      metrics,
      workloads: workloads.running,
      leaving: this.leaving,
    });
  }
}

import type { VerdictEvidence } from '#contracts';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import type { ReportBook } from '../observers/report-book.js';
import { evidenceOf, isHealthyReporter, voteOf } from '../observers/stance.js';
import type { OwnProbes } from '../probe/own-probe.js';
import { tally, type Tally, type TargetFacts } from './quorum.js';

/** What the monitor itself is, beside the reports. */
export interface Vantage {
  now: number;
  /** Since when reports can reach us without a gap, monotonic ms. */
  listeningSince: number;
  witness: boolean;
}

export interface Examination {
  facts: TargetFacts;
  tally: Tally;
}

/** Gathers what is known of a node as of now; decides nothing. */
export class Examiner {
  constructor(
    private readonly fleet: FleetView,
    private readonly book: ReportBook,
    private readonly probes: Pick<OwnProbes, 'state' | 'evidence'>,
  ) {}

  /** Members that report freshly and healthily. */
  reporters(now: number): ReadonlySet<string> {
    const { detection } = this.fleet.settings;
    return new Set(this.fleet.members.filter((m) => isHealthyReporter(this.book.of(m), now, detection)));
  }

  examine(target: WatchedTarget, reporters: ReadonlySet<string>, v: Vantage): Examination {
    const { name } = target.record;
    const n = this.fleet.settings.detection;
    const own = this.book.of(name);
    const ownSilenceMs = v.now - Math.max(own?.at ?? -Infinity, v.listeningSince);
    const conflict = own !== undefined && v.now < own.conflictUntil;
    const left = this.leftMs(target, v);
    const facts: TargetFacts = {
      node: name,
      networks: target.networks,
      members: this.fleet.members.length,
      reporters: reporters.size,
      otherReporters: reporters.size - (reporters.has(name) ? 1 : 0),
      votes: this.fleet.observersOf(name).map((o) => voteOf(o, this.book.of(o), name, target.networks, v.now, n)),
      ownSilenceMs,
      ownFresh: own !== undefined && v.now - own.at < n.freshness && own.report.leaving === undefined && !conflict,
      conflict,
      ...(left !== undefined && { leftMs: left }),
      ownProbe: this.probes.state(name, v.now, n.freshness),
      witness: v.witness,
      freshness: n.freshness,
    };
    return { facts, tally: tally(facts) };
  }

  evidence(target: WatchedTarget, { facts, tally: t }: Examination, now: number): VerdictEvidence {
    const { name } = target.record;
    const own = this.book.of(name);
    const probe = this.probes.evidence(name, now, this.fleet.settings.detection.freshness);
    return {
      observers: facts.votes.flatMap((v) => evidenceOf(v, this.book.of(v.observer), name, target.networks, now)),
      assigned: facts.votes.length,
      accusers: t.accusers,
      members: facts.members,
      sightedReporters: facts.otherReporters,
      ...(own && { ownReportAgeMs: Math.round(now - own.at) }),
      ...(probe && { ownProbe: probe }),
    };
  }

  /** Its boot as its own reports last named it. */
  bootIdOf(node: string): string | undefined {
    return this.book.of(node)?.report.bootId;
  }

  /** A farewell is not stored: after our own restart the registry's last verdict tells of it, and the grace begins anew. */
  private leftMs(target: WatchedTarget, v: Vantage): number | undefined {
    const own = this.book.of(target.record.name);
    if (own) return own.report.leaving && own.leftAt !== undefined ? v.now - own.leftAt : undefined;
    return target.record.verdict?.verdict === 'LEFT' ? v.now - v.listeningSince : undefined;
  }
}

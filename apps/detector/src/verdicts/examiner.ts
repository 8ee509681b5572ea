import { silenceTimeout, type LifeObservation, type VerdictEvidence } from '#contracts';
import { isOnAgain } from '#domain/node/membership.js';
import { networksOut } from '#domain/verdict/networks-out.js';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import { isDuplicated } from '../observers/duplicates.js';
import type { ReportBook } from '../observers/report-book.js';
import { evidenceOf, isHealthyReporter, outFor, voteOf, type Vote } from '../observers/stance.js';
import { wordlessIn } from '../observers/wordless.js';
import type { PollBook } from '../polls/poll-book.js';
import { pollEvidenceOf, pollVoteOf } from '../polls/poll-vote.js';
import type { OwnProbes } from '../probe/own-probe.js';
import { tally, type Tally, type TargetFacts } from './quorum.js';
import type { Life } from './verdict-log.js';

/** What the monitor itself is, beside the reports. */
export interface Vantage {
  now: number;
  /** Since when reports can reach us without a gap, monotonic ms. */
  listeningSince: number;
  /** Members that report freshly and healthily. */
  reporters: ReadonlySet<string>;
  /** Networks that are out, by the word of most members. */
  out: ReadonlySet<string>;
  witness: boolean;
  /** Where it is, `host:port`; '': none is set. */
  witnessAt: string;
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
    private readonly probes: Pick<OwnProbes, 'state' | 'evidence'> & {
      lifeObservations?: (node: string, now: number) => LifeObservation[];
    },
    private readonly polls: Pick<PollBook, 'drawnFor' | 'wordOf'>,
  ) {}

  /** Members that report freshly and healthily. */
  reporters(now: number): ReadonlySet<string> {
    const { detection } = this.fleet.settings;
    return new Set(this.fleet.members.filter((m) => isHealthyReporter(this.book.of(m), now, detection)));
  }

  /** Networks on which most of the members cannot send. @param reporters those whose word counts */
  networksOut(reporters: ReadonlySet<string>): ReadonlySet<string> {
    return networksOut(
      this.fleet.members.map((name) => {
        const report = reporters.has(name) ? this.book.of(name)?.report : undefined;
        return { networks: this.fleet.targets.get(name)?.networks ?? [], ...(report && { report }) };
      }),
    );
  }

  examine(target: WatchedTarget, v: Vantage): Examination {
    const { name } = target.record;
    const n = this.fleet.settings.detection;
    const own = this.book.of(name);
    const ownSilenceMs = v.now - Math.max(own?.at ?? -Infinity, v.listeningSince);
    const observers = this.fleet.observersOf(name);
    const conflict =
      (own !== undefined && v.now < own.conflictUntil) ||
      isDuplicated(name, observers, (o) => this.book.of(o), v.now, n);
    const leftMs = this.leftMs(target, v);
    const left = this.leftWhy(target);
    const { votes, polled, out } = this.votes(target, observers, v);
    const facts: TargetFacts = {
      node: name,
      networks: target.networks,
      out: target.networks.filter((network) => out.has(network)),
      members: this.fleet.members.length,
      reporters: v.reporters.size,
      otherReporters: v.reporters.size - (v.reporters.has(name) ? 1 : 0),
      votes,
      ...(polled && { polled }),
      ownSilenceMs,
      ownFresh: own !== undefined && v.now - own.at < n.freshness && own.report.leaving === undefined && !conflict,
      conflict,
      ...(leftMs !== undefined && { leftMs }),
      ...(left && { left }),
      ownProbe: this.probes.state(name, v.now, n.freshness),
      witness: v.witness,
      witnessAt: v.witnessAt,
      freshness: n.freshness,
      silenceTimeoutMs: silenceTimeout(n),
      now: v.now,
    };
    return { facts, tally: tally(facts) };
  }

  evidence(target: WatchedTarget, { facts, tally: t }: Examination, now: number): VerdictEvidence {
    const { name } = target.record;
    const own = this.book.of(name);
    const probe = this.probes.evidence(name, now, this.fleet.settings.detection.freshness);
    const lifeLooks = this.probes.lifeObservations?.(name, now) ?? [];
    const watching = new Set(facts.votes.map((v) => v.observer));
    const asked = (facts.polled ?? []).filter((v) => !watching.has(v.observer));
    const observers = [
      ...facts.votes.flatMap((v) => evidenceOf(v, this.book.of(v.observer), name, target.networks, now)),
      ...asked.flatMap((v) => pollEvidenceOf(v, this.polls.wordOf(v.observer, name), now)),
    ];
    const wordless = wordlessIn(observers, facts.votes, asked, (o) => this.book.of(o), now);
    return {
      observers,
      ...(wordless.length > 0 && { wordless }),
      assigned: t.assigned,
      accusers: t.accusers,
      ...(facts.out.length > 0 && { networksOut: [...facts.out].sort() }),
      members: facts.members,
      sightedReporters: facts.otherReporters,
      sighted: t.sighted,
      ...(own && { ownReportAgeMs: Math.round(now - own.at) }),
      ...(probe && { ownProbe: probe }),
      ...(lifeLooks.length > 0 && { lifeLooks }),
      ...(facts.left && { left: facts.left }),
    };
  }

  /** A network that is out for most is not out for one that anybody hears there: everyone is asked for it anew. */
  private votes(
    target: WatchedTarget,
    observers: readonly string[],
    v: Vantage,
  ): { votes: Vote[]; polled: Vote[] | undefined; out: ReadonlySet<string> } {
    const { name } = target.record;
    const n = this.fleet.settings.detection;
    const by = (out: ReadonlySet<string>): { votes: Vote[]; polled: Vote[] | undefined } => {
      const votes = observers.map((o) => voteOf(o, this.book.of(o), name, target.networks, v.now, n, out));
      return { votes, polled: this.fleet.polls ? this.polledVotes(target, votes, v.now, out) : undefined };
    };
    const said = by(v.out);
    const out = outFor(v.out, [...said.votes, ...(said.polled ?? [])]);
    return { ...(out.size === v.out.size ? said : by(out)), out };
  }

  /** One vote of each who was drawn: an observer by the plan is not asked, for it reports what it sees all the time. */
  private polledVotes(target: WatchedTarget, watching: readonly Vote[], now: number, out: ReadonlySet<string>): Vote[] {
    const { name } = target.record;
    const n = this.fleet.settings.detection;
    const known = new Map(watching.map((v) => [v.observer, v]));
    return this.polls
      .drawnFor(name)
      .map(
        (o) => known.get(o) ?? pollVoteOf(o, this.book.of(o), this.polls.wordOf(o, name), target.networks, now, n, out),
      );
  }

  /** Its boot, and its agent's process, as its own reports last named them. */
  lifeOf({ record }: WatchedTarget, { ownFresh }: Pick<TargetFacts, 'ownFresh'>): Life {
    const own = this.book.of(record.name)?.report;
    if (own === undefined) return {};
    const poweredOn = ownFresh && isOnAgain(record, own.bootId);
    return { bootId: own.bootId, agentEpoch: own.epoch, ...(poweredOn && { poweredOn }) };
  }

  /** Its agent's last word; after our own restart as it stands on record. */
  private leftWhy(target: WatchedTarget): TargetFacts['left'] {
    const own = this.book.of(target.record.name);
    return own ? own.report.leaving?.kind : target.record.verdict?.left;
  }

  /** A farewell is not stored: after our own restart the registry's last verdict tells of it, and the grace begins anew. */
  private leftMs(target: WatchedTarget, v: Vantage): number | undefined {
    const own = this.book.of(target.record.name);
    if (own) return own.report.leaving && own.leftAt !== undefined ? v.now - own.leftAt : undefined;
    return target.record.verdict?.verdict === 'LEFT' ? v.now - v.listeningSince : undefined;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { BlindnessEnd, DetectionSettings, LifeObservation, Report, Verdict } from '#contracts';
import type { BusLog } from '#bus';
import type { FleetView } from '../fleet/fleet-view.js';
import { NetworkOutages } from '../observers/network-outages.js';
import type { ReportBook } from '../observers/report-book.js';
import { readPollAnswer } from '../polls/poll-answer.js';
import type { PollBook, PollOrder } from '../polls/poll-book.js';
import type { OwnProbes } from '../probe/own-probe.js';
import { Assessor, type News } from './assessor.js';
import { Attention } from './attention.js';
import { Examiner, type Vantage } from './examiner.js';
import { lacksQuorum } from './quorum.js';
import type { VerdictLog } from './verdict-log.js';

/** What it knows by, and what it does with what it finds. */
export interface MonitorParts {
  fleet: FleetView;
  reports: ReportBook;
  polls: PollBook;
  verdicts: VerdictLog;
  probes: Pick<OwnProbes, 'watch' | 'state' | 'evidence'> & {
    /** What nodes that were asked have found. @default nobody is asked */
    lifeObservations?: (node: string, now: number) => LifeObservation[];
  };
  /** Something that is no node answers us. */
  witness: () => boolean;
  /** This instance may judge: its lease is valid now. */
  leads: () => boolean;
  /** ms since 1970, for the record. */
  wall: () => number;
  publish: (news: readonly News[]) => void;
  ask: (orders: readonly PollOrder[]) => void;
  log: Pick<BusLog, 'debug'>;
}

/**
 * When what is judged: as soon as something is learnt, by time alone, and not while it may not. One that does not lead
 * hears the same and keeps still: when it takes over it has the fleet's last words already. Times are monotonic ms.
 */
export class Monitor {
  private readonly attention: Attention;
  private readonly examiner: Examiner;
  private readonly assessor: Assessor;
  private readonly outages = new NetworkOutages();
  /** Of whom something was learnt in this turn of the loop. */
  private readonly learnt = new Set<string>();
  /** By which it judged last. */
  private numbers: DetectionSettings | undefined;

  constructor(
    private readonly p: MonitorParts,
    now: number,
  ) {
    this.attention = new Attention(now);
    this.examiner = new Examiner(p.fleet, p.reports, p.probes, p.polls);
    this.assessor = new Assessor(p.fleet, this.examiner, p.verdicts, p.probes);
  }

  /** False: a copy, older than what we have, or of another machine under that name. */
  hear(report: Report, now: number): boolean {
    this.check(now);
    const { fleet, reports } = this.p;
    const changed = reports.hear(report, this.attention.heardAt(now), fleet.settings.detection, now);
    if (changed === undefined) return false;
    this.learn(changed);
    return reports.of(report.node)?.report === report;
  }

  /** Judged together by {@link settle} at the end of this turn of the loop: when a rack dies, hundreds of reports come in one. */
  learn(nodes: readonly string[]): void {
    for (const node of nodes) this.learnt.add(node);
  }

  /** An order came to its end. @param said what came back, whatever it is; undefined: nothing in time */
  polled(order: PollOrder, said: unknown, now: number): void {
    this.p.polls.ended(order, readPollAnswer(said, order.observer), now);
    this.learn(order.targets);
  }

  /** Something was learnt that is not judged yet. */
  get hasNews(): boolean {
    return this.learnt.size > 0;
  }

  settle(now: number): void {
    const nodes = [...this.learnt];
    this.learnt.clear();
    this.assess(nodes, now);
  }

  /** Time alone has gone on. */
  tick(now: number): void {
    this.check(now);
    this.p.reports.keepOnly(this.p.fleet.targets);
    if (!this.p.leads()) {
      this.seenReporters(now);
      return;
    }
    this.assessor.forgetStrangers();
    this.assess(this.assessor.inTurn(), now);
  }

  /** A new term: nobody is judged before everyone has spoken again. */
  lead(token: number, now: number): void {
    this.p.verdicts.begin(token);
    this.attention.beginTerm();
    // By which it is quiet now: others that come before its first check are a change.
    this.numbers ??= this.p.fleet.settings.detection;
    this.beQuiet(`it leads, term ${token}`, now);
  }

  rest(): void {
    this.assessor.rest();
  }

  /** Reports are missing before now, or were counted by other numbers. */
  listenAnew(why: string, now: number, before?: DetectionSettings): void {
    this.attention.listenAnew(now);
    this.p.polls.forget();
    this.beQuiet(why, now, before);
  }

  isQuiet(now: number): boolean {
    return this.attention.isQuiet(now) || !this.p.fleet.live;
  }

  /** As of now; the caller has made sure that it leads. @throws NODE_UNKNOWN */
  current(node: string, now: number): Verdict {
    this.check(now);
    const { verdict, news } = this.assessor.current(node, this.vantage(now), this.p.wall(), this.isQuiet(now));
    this.p.publish(news);
    return verdict;
  }

  /** Why there is no quorum while there is none. */
  get noQuorumBy(): 'reports' | 'own' {
    return this.attention.noQuorumBy;
  }

  /** As {@link Attention.blindnessEnded}. */
  blindnessEnded(now: number): BlindnessEnd | undefined {
    return this.attention.blindnessEnded(now);
  }

  /** Members that report freshly and healthily. */
  reporters(now: number): number {
    return this.examiner.reporters(now).size;
  }

  /** One of two members is suspect: whether we are cut off ourselves decides. */
  get needsWitness(): boolean {
    return this.p.fleet.members.length === 2 && this.assessor.anySuspect;
  }

  /** Before anything is heard or judged. */
  private check(now: number): void {
    this.checkNumbers(now);
    const gap = this.attention.measureGap(now, this.p.fleet.settings.detection);
    if (gap !== undefined) this.listenAnew(`its own loop stood still for ${Math.round(gap)} ms`, now);
  }

  /**
   * Misses that were counted at another interval are no evidence by these numbers, and who is silent for too long by the
   * former ones must not become a witness by longer ones.
   */
  private checkNumbers(now: number): void {
    const { detection } = this.p.fleet.settings;
    if (detection === this.numbers) return;
    const before = this.numbers;
    this.numbers = detection;
    if (before !== undefined && !isDeepStrictEqual(before, detection))
      this.listenAnew('its numbers were changed', now, before);
  }

  /** Two report periods without a verdict: then everyone has spoken again, and is examined anew. */
  private beQuiet(why: string, now: number, before?: DetectionSettings): void {
    this.outages.forget();
    const { reportPeriod } = this.p.fleet.settings.detection;
    this.attention.beQuiet(now, { reportPeriod: Math.max(reportPeriod, before?.reportPeriod ?? 0) });
    this.p.verdicts.sayAgain();
    this.p.log.debug({ why }, 'quiet for two report periods');
  }

  private assess(nodes: readonly string[], now: number): void {
    const { fleet, leads, polls, publish, ask, wall } = this.p;
    if (!leads()) return;
    this.check(now);
    publish(this.assessor.assess(nodes, this.vantage(now), wall(), this.isQuiet(now)));
    ask(polls.due(this.assessor.suspectsToPoll(), fleet.members, now));
  }

  private vantage(now: number): Vantage {
    const reporters = this.seenReporters(now);
    const { listeningSince } = this.attention;
    const { settings } = this.p.fleet;
    const { detection } = settings;
    const out = this.outages.lasting(this.examiner.networksOut(reporters), now, detection);
    const witnessAt = settings.witness ?? '';
    return { now, listeningSince, reporters, out, witness: this.p.witness(), witnessAt };
  }

  /** One that does not lead counts them, too: a quorum may be lost or found while nobody leads, and the same one may lead again. */
  private seenReporters(now: number): ReadonlySet<string> {
    const reporters = this.examiner.reporters(now);
    const { members } = this.p.fleet;
    const asOf = (): BlindnessEnd => ({
      seq: this.p.verdicts.seq,
      silent: members.filter((node) => !reporters.has(node)),
    });
    this.attention.sees(lacksQuorum(reporters.size, members.length), now, asOf);
    return reporters;
  }
}

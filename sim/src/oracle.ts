import {
  DetectionProfiles,
  silenceTimeout,
  SMALL_FLEET,
  type DetectionSettings,
  type Report,
  type VerdictKind,
} from '#contracts';
import type { History } from './history.js';
import type { Arrival } from './sim-agent.js';
import { GIVEN_UP, MONITOR, type Successor, type World } from './world.js';

export interface Violation {
  node: string;
  /** Virtual ms. */
  time: number;
  what: string;
}

/** What was true when a report left. */
export interface Spoken {
  node: number;
  epoch: number;
  seq: number;
  at: number;
  leaving: boolean;
  /** It must report nobody down: it stood still a moment ago. That it cannot send it notices with time. */
  abstains: boolean;
  /** By target: whether it was silent for long enough, where this one could send, while it ran, to be reported down. */
  mayReportDown: boolean[];
  /** By target: when it last answered, on whichever network. */
  answered: Float64Array;
  /** By target: networks on which too little left for it in that time to be missed. */
  unasked: string[][];
  /** Networks on which nothing of it leaves to anybody. */
  mute: string[];
  /** By target: networks on which it had just been answered, and all that it sent since has left it. */
  hears: string[][];
}

interface LastWord {
  spoken: Spoken;
  /** When it reached the monitor's host. */
  at: number;
  /** As of when it says that its sender lives. */
  saidAt: number;
}

/** Shares of the interval: an echo in less than this after its probe is an answer. */
const IN_TIME = 0.8;
/** ms that the monitor waits for its own echo at most. */
const OWN_LIMIT = 1000;
/** ms of a standstill that the monitor itself does not notice. */
const OWN_GAP = 1000;
/** ms after a longer one in which it believes that what it reads has waited since its beginning. */
const DRAIN = 250;
/** Intervals after a standstill in which nobody may be reported down. */
const ABSTAIN = 1.8;
/** ms after a change of numbers in which somebody counts by the former ones, or must keep quiet. */
const RETUNING = 4500;

/**
 * Knows the world's truth and the rules, and nothing of the code that it judges. A node *answers* an observer when its
 * echo was delivered in time to the very process that had asked, which ran all the while.
 *
 * DOWN is said only where more than half of the observers had not been answered by it for the silence timeout and told
 * so within `freshness`; its own word, its echo to the monitor, its goodbye, a monitor that has no quorum or has just
 * begun all forbid it. And it is said, within the bound, of every node that answers nobody.
 */
export class Oracle {
  readonly violations: Violation[] = [];
  readonly seen = { down: false, unknown: false, withoutQuorum: false };
  /** The numbers that are set now. */
  private n: DetectionSettings;
  /** By node: those that its present process has had, and since when. */
  private readonly tunings: { at: number; n: DetectionSettings }[][];
  private readonly members: number[];
  private readonly observers: number[][];
  /** [observer][target]: when it was last answered, and when anything at all of the target came to it. */
  private readonly answeredAt: Float64Array[];
  /** The same of answers, by network: [network][observer][target]. */
  private readonly answeredOn: Float64Array[][];
  /** By node: since when its present process has run. */
  private readonly startedAt: Float64Array;
  /** By node: when it last gave any sign of life to anybody. */
  private readonly signAt: Float64Array;
  private readonly echoes: number[][];
  /** [observer][target]: of the last probe on the monitor's request that was answered, and of the last that reported it down. */
  private readonly pollEchoAt: Float64Array[];
  private readonly pollDownAt: Float64Array[];
  private readonly words: (LastWord | undefined)[] = [];
  private readonly leftAt: (number | undefined)[] = [];
  private readonly was: VerdictKind[];
  private readonly toldLate = new Set<number>();
  private listeningSince = 0;
  private live = true;
  /** Too few members reported in the last round, and nobody has spoken since who made them enough. */
  private lackedQuorum = true;
  private quietUntil = 0;
  /** As it was before the last change of numbers, while no monitor has judged since. */
  private unseen: { n: DetectionSettings; quietUntil: number; listeningSince: number } | undefined;

  constructor(
    private readonly h: History,
    private readonly world: World,
    private readonly names: readonly string[],
    planned: (name: string) => readonly string[],
  ) {
    this.n = DetectionProfiles[h.profile];
    const all = names.map((_n, i) => i);
    this.members = all.filter((i) => h.roles[i] === 'member');
    this.observers = all.map((i) =>
      names.length > SMALL_FLEET
        ? planned(names[i] as string).map((o) => names.indexOf(o))
        : this.members.filter((m) => m !== i),
    );
    this.answeredAt = all.map(() => new Float64Array(names.length).fill(-Infinity));
    this.answeredOn = h.networks.map(() => all.map(() => new Float64Array(names.length).fill(-Infinity)));
    this.pollEchoAt = all.map(() => new Float64Array(names.length).fill(-Infinity));
    this.pollDownAt = all.map(() => new Float64Array(names.length).fill(-Infinity));
    this.startedAt = new Float64Array(names.length);
    this.signAt = new Float64Array(names.length);
    this.echoes = all.map(() => []);
    this.was = all.map(() => 'UNKNOWN');
    this.tunings = all.map(() => [{ at: 0, n: this.n }]);
  }

  /** Nobody may be judged before everyone has spoken again: another leads, who may know nothing, or reports are missing. */
  quiet(now: number, because: Successor | 'bus'): void {
    this.unseen = undefined;
    this.keepQuiet(now, this.n);
    if (because === 'bus' || because === 'new') this.listeningSince = now;
    // What came back to another process.
    if (because === 'other' || because === 'new') for (const echoes of this.echoes) echoes.length = 0;
    if (because !== 'new') return;
    this.quietUntil = now + 2 * this.n.reportPeriod;
    this.lackedQuorum = true;
    this.words.fill(undefined);
    this.leftAt.fill(undefined);
  }

  /** The monitor runs again, after it stood still for so long, ms: what has waited looks as if it had just been said. */
  goesOn(now: number, stood: number): void {
    if (stood <= this.ownGap) return;
    this.unseen = undefined;
    this.keepQuiet(now, this.n);
    this.listeningSince = now;
  }

  /**
   * Everybody counts by these from now on, and what was counted by the former ones is no evidence. Numbers that were
   * replaced before the monitor looked, it has never judged by.
   */
  numbersChange(n: DetectionSettings, now: number): void {
    if (this.unseen) ({ n: this.n, quietUntil: this.quietUntil, listeningSince: this.listeningSince } = this.unseen);
    this.unseen = undefined;
    if (n === this.n) return;
    const { n: before, quietUntil, listeningSince } = this;
    this.keepQuiet(now, n.reportPeriod > before.reportPeriod ? n : before);
    this.n = n;
    this.listeningSince = now;
    this.unseen = { n: before, quietUntil, listeningSince };
  }

  /** Whether the monitor follows the registry: it says nothing while it does not. */
  follows(live: boolean): void {
    this.live = live;
  }

  started(node: number, n: DetectionSettings, now: number): void {
    this.startedAt[node] = now;
    this.tunings[node] = [{ at: now, n }];
    this.answeredAt[node]?.fill(-Infinity);
    for (const answered of this.answeredOn) answered[node]?.fill(-Infinity);
  }

  tuned(node: number, n: DetectionSettings, now: number): void {
    this.tunings[node]?.push({ at: now, n });
  }

  /** The observer read an echo or a welcome. */
  read(observer: number, target: number, { kind, network, sentAt, at }: Arrival): void {
    this.sign(target, at);
    if (kind === 'polled') (this.pollEchoAt[observer] as Float64Array)[target] = at;
    if (kind !== 'echo') return;
    const interval = Math.min(this.numbersOf(observer, sentAt).interval, this.numbersOf(observer, at).interval);
    if (at - sentAt >= interval * IN_TIME) return;
    const stood = this.world.standstillsOf(observer).some((p) => p.until > sentAt && p.from < at);
    if (stood) return;
    (this.answeredAt[observer] as Float64Array)[target] = at;
    const answered = this.answeredOn[this.h.networks.indexOf(network)]?.[observer];
    if (answered) answered[target] = at;
  }

  /** The monitor will be answered, if it runs then. */
  echoComes(node: number, sentAt: number, at: number): void {
    this.sign(node, at);
    const stood = this.world.of('monitor-pause').some((p) => p.until > sentAt && p.from < at);
    if (at - sentAt <= OWN_LIMIT && !stood) this.echoes[node]?.push(at);
  }

  speaks(node: number, report: Report, at: number): Spoken {
    const { epoch, seq, leaving } = report;
    const stoodLately = this.stoodLately(node, at);
    const mute = this.h.networks.filter((network) => this.isMute(node, network, at));
    const mayReportDown = this.names.map((_n, target) => !stoodLately && this.wasSilent(node, target, mute, at));
    const unasked = this.names.map((_n, target) =>
      mayReportDown[target] ? this.h.networks.filter((network) => !this.wasAsked(node, target, network, at)) : [],
    );
    // Where every send leaves, no network is out.
    const hears = (this.world.of('unsent').length === 0 ? [] : this.names).map((_n, target) =>
      this.h.networks.filter((_network, i) => this.isSureToHear(node, target, i, at)),
    );
    const left = leaving !== undefined;
    const answered = Float64Array.from(this.answeredAt[node] as Float64Array);
    return {
      node,
      epoch,
      seq,
      at,
      leaving: left,
      abstains: stoodLately,
      mayReportDown,
      answered,
      unasked,
      mute,
      hears,
    };
  }

  /** By target, whether nothing of it has come since the poll began, to an observer that ran all the while. */
  pollDone(observer: number, begun: number, now: number): boolean[] {
    const stood =
      this.stoodLately(observer, now) ||
      this.world.standstillsOf(observer).some((p) => p.until > begun && p.from < now);
    return this.names.map(
      (_n, target) => !stood && ((this.pollEchoAt[observer] as Float64Array)[target] as number) < begun,
    );
  }

  pollHeard(observer: number, target: number, down: readonly boolean[], arrivedAt: number, readAt: number): void {
    const at = this.counted(arrivedAt, readAt);
    (this.pollDownAt[observer] as Float64Array)[target] = down[target] ? at : -Infinity;
  }

  heard(spoken: Spoken, arrivedAt: number, readAt: number): void {
    this.unseen = undefined;
    const at = this.counted(arrivedAt, readAt);
    this.sign(spoken.node, at);
    const last = this.words[spoken.node];
    if (last && !isAfter(spoken, last.spoken)) return;
    this.words[spoken.node] = { spoken, at, saidAt: this.isDrained(readAt) ? -Infinity : spoken.at };
    if (!spoken.leaving) this.leftAt[spoken.node] = undefined;
    else this.leftAt[spoken.node] ??= at;
    if (!this.lackedQuorum || this.lacksQuorum(at)) return;
    // Whose own word has not come yet is not silent for all the time before: a fleet in two parts joins node by node.
    this.lackedQuorum = false;
    this.listeningSince = Math.max(this.listeningSince, at);
  }

  said(at: number, node: number, verdict: VerdictKind): void {
    this.unseen = undefined;
    const was = this.was[node];
    this.was[node] = verdict;
    if (verdict === 'UNKNOWN') this.seen.unknown = true;
    if (at < this.quietUntil) this.violated(node, at, `${verdict} while the monitor must be quiet`);
    if (!this.live) this.violated(node, at, `${verdict} while the registry is not followed`);
    if (verdict !== 'DOWN') return;
    this.seen.down = true;
    if (was !== 'DOWN') this.mustBeDead(node, at);
    this.mustBeSighted(node, at);
  }

  /** What the monitor answers to one who is about to act on it. */
  answered(at: number, node: number, verdict: VerdictKind): void {
    this.unseen = undefined;
    if (verdict === 'UNKNOWN') return;
    if (at < this.quietUntil || !this.live)
      this.violated(node, at, `answers ${verdict} while the monitor must be quiet`);
    if (this.lacksQuorum(at)) this.violated(node, at, `answers ${verdict} while too few members report`);
    if (verdict === 'DOWN') this.mustBeSighted(node, at);
  }

  /** At every look of a monitor that listens, whether it leads or not. */
  watch(now: number): void {
    this.unseen = undefined;
    // Other numbers may end it as well, from which on everybody's silence counts anyway.
    this.lackedQuorum = this.lacksQuorum(now);
  }

  /** At every look of the one that leads. */
  judge(now: number, verdictOf: (node: number) => VerdictKind): void {
    if (now < this.quietUntil || !this.live) return;
    const withoutQuorum = this.lacksQuorum(now);
    if (withoutQuorum) this.seen.withoutQuorum = true;
    for (let node = 0; node < this.names.length; node++) {
      const verdict = verdictOf(node);
      if (withoutQuorum && verdict !== 'UNKNOWN') this.violated(node, now, `${verdict} while too few members report`);
      this.mustNotLive(node, now, verdict);
      if (verdict === 'DOWN') this.mustBeSighted(node, now);
      else if (now - (this.signAt[node] as number) > this.bound) this.mustNotBeDead(node, now, verdict);
    }
  }

  /**
   * It has given no sign of life to anybody for so long that whoever has heard it says so no longer, or is not believed
   * any more, whatever became of what was sent to it. While an observer stands still it misses nothing.
   */
  private mustNotLive(node: number, now: number, verdict: VerdictKind): void {
    if (verdict !== 'UP' && verdict !== 'DEGRADED') return;
    const { interval, suspectMisses, freshness } = this.n;
    const stood = Math.max(0, ...(this.observers[node] as number[]).map((o) => this.stoodSince(o, node, now)));
    const unheard = (suspectMisses + 3) * interval + freshness + this.h.wire.report + stood;
    const since = now - unheard;
    if ((this.signAt[node] as number) >= since || this.quietUntil > since || this.impaired(MONITOR, since, now)) return;
    // What a connection has held for so long that nobody remembers how long a report takes counts as of when it comes.
    if (this.world.of('stall').some((f) => f.from < now && f.until > since - freshness)) return;
    if (this.world.of('lossy').some((f) => f.from < now && f.until + GIVEN_UP > since - freshness)) return;
    this.violated(node, now, `${verdict}, although it has answered nobody for ${Math.round(unheard)} ms`);
  }

  /** ms for which this observer stood still since the node's last sign of life, and a probe that each standstill voids. */
  private stoodSince(observer: number, node: number, now: number): number {
    const sign = this.signAt[node] as number;
    return this.world
      .standstillsOf(observer)
      .filter((p) => p.until > sign && p.from < now)
      .reduce((sum, p) => sum + Math.min(p.until, now) - Math.max(p.from, sign) + this.n.interval, 0);
  }

  private keepQuiet(now: number, { reportPeriod }: DetectionSettings): void {
    this.quietUntil = Math.max(this.quietUntil, now + 2 * reportPeriod);
    this.was.fill('UNKNOWN');
  }

  /** Of this node's process, at a time since its start. */
  private numbersOf(node: number, t: number): DetectionSettings {
    const tunings = this.tunings[node] as { at: number; n: DetectionSettings }[];
    for (let i = tunings.length - 1; i > 0; i--) if ((tunings[i] as { at: number }).at <= t) return tunings[i]!.n;
    return tunings[0]!.n;
  }

  private lacksQuorum(now: number): boolean {
    const needed = this.members.length === 2 ? 1 : this.majority;
    let reporters = 0;
    for (const m of this.members) if (this.reports(m, now)) reporters++;
    return reporters < needed;
  }

  private get majority(): number {
    return Math.floor(this.members.length / 2) + 1;
  }

  /**
   * From the last sign of life of a node to DOWN: the silence timeout and two intervals (in `lan` 4 s), or where that
   * takes longer the misses to SUSPECT and then the monitor's own look; and the way of the reports.
   */
  private get bound(): number {
    const { interval, suspectMisses } = this.n;
    const own = (suspectMisses + 2) * interval + OWN_LIMIT;
    return Math.max(silenceTimeout(this.n) + 2 * interval, own) + this.h.wire.report + this.n.interval / 2;
  }

  private mustBeDead(node: number, at: number): void {
    const observers = this.observers[node] as number[];
    const out = this.networksOut(node, at);
    const accusers = observers.filter((o) => {
      const word = this.words[o];
      return word && this.reports(o, at) && this.reportsDown(word.spoken, node, out, at);
    });
    if (accusers.length * 2 <= observers.length)
      this.violated(
        node,
        at,
        `DOWN, yet only ${accusers.length} of ${observers.length} observers had been without its answer for the silence timeout and said so`,
      );
    if (this.names.length > SMALL_FLEET) this.mustBeDeadToAll(node, at);
    const own = this.words[node];
    const silentFor = at - Math.max(this.listeningSince, own && !own.spoken.leaving ? own.saidAt : -Infinity);
    if (silentFor < this.n.freshness) this.violated(node, at, `DOWN ${Math.round(silentFor)} ms after its own report`);
    if (this.echoes[node]?.some((e) => e <= at && at - e < this.n.freshness))
      this.violated(node, at, 'DOWN although it echoed to the monitor');
    const left = this.leftAt[node];
    if (left !== undefined && at - left < this.h.leaveGrace - this.n.interval - this.waited(left))
      this.violated(node, at, 'DOWN within the grace of its leave');
  }

  /** Not everybody watches it: of all members most must have missed it, by the plan or when they were asked. */
  private mustBeDeadToAll(node: number, at: number): void {
    const others = this.members.filter((m) => m !== node);
    const accusers = others.filter((o) => {
      if (!this.reports(o, at)) return false;
      if (this.observers[node]?.includes(o)) {
        const spoken = this.words[o]?.spoken;
        return spoken !== undefined && this.reportsDown(spoken, node, this.networksOut(node, at), at);
      }
      return at - ((this.pollDownAt[o] as Float64Array)[node] as number) <= this.n.freshness;
    });
    if (accusers.length * 2 <= others.length)
      this.violated(node, at, `DOWN, yet only ${accusers.length} of ${others.length} members were without its answer`);
  }

  /**
   * Silent for the silence timeout on every network on which it was asked, and by now on every other one; one on which
   * it was not asked must be out for most, and for itself.
   */
  private reportsDown(spoken: Spoken, target: number, out: readonly string[], at: number): boolean {
    const unasked = spoken.unasked[target] as string[];
    const answered = spoken.answered[target] as number;
    const least = silenceTimeout(this.numbersOf(spoken.node, spoken.at)) - this.slack(spoken.node, answered, spoken.at);
    return (
      spoken.mayReportDown[target] === true &&
      at - answered >= least &&
      unasked.length < this.h.networks.length &&
      unasked.every((network) => out.includes(network) && spoken.mute.includes(network))
    );
  }

  /**
   * On which nothing leaves more than half of the members, two of them at least, by their own fresh word; not where one
   * of those who watch this node has just been answered by it there.
   */
  private networksOut(node: number, at: number): string[] {
    const words = this.members.filter((m) => this.reports(m, at)).map((m) => this.words[m]?.spoken.mute ?? []);
    const hearers = (this.observers[node] as number[])
      .filter((o) => this.reports(o, at))
      .map((o) => (this.words[o] as LastWord).spoken)
      .filter((spoken) => at - spoken.at <= this.n.freshness - this.n.interval);
    return this.h.networks.filter((network) => {
      const mute = words.filter((w) => w.includes(network)).length;
      const isHeard = hearers.some((spoken) => spoken.hears[node]?.includes(network));
      return mute >= 2 && mute * 2 > this.members.length && !isHeard;
    });
  }

  /** Answered within an interval, in which all that it sent there left it. */
  private isSureToHear(observer: number, target: number, network: number, at: number): boolean {
    const { interval } = this.numbersOf(observer, at);
    const answered = this.answeredOn[network]?.[observer]?.[target] ?? -Infinity;
    if (at - answered >= interval) return false;
    const name = this.h.networks[network] as string;
    return this.world.unsentFor(observer, target, name, at - 2 * interval, at) === 0;
  }

  /** Nothing has left it for an interval; what it says of itself is as of a moment before. */
  private isMute(node: number, network: string, at: number): boolean {
    const { interval } = this.numbersOf(node, at);
    const others = this.names.map((_n, i) => i).filter((i) => i !== node);
    return [0, 0.5, 1].every((share) =>
      others.every((to) => !this.world.sends(node, to, network, at - share * interval)),
    );
  }

  /** Also of a DOWN that was said before, and is held. */
  private mustBeSighted(node: number, at: number): void {
    const others = this.members.filter((m) => m !== node && this.reports(m, at)).length;
    const sighted = others >= this.majority || (this.members.length === 2 && others === 1 && this.h.witness);
    if (!sighted)
      this.violated(node, at, `DOWN while only ${others} of ${this.members.length} members report beside it`);
  }

  /** It has answered nobody for longer than the bound: whoever watches it without trouble of its own must have said so. */
  private mustNotBeDead(node: number, now: number, verdict: VerdictKind): void {
    if (this.toldLate.has(node) || this.h.roles[node] === 'off') return;
    if (this.words[node]?.spoken.leaving || this.leftAt[node] !== undefined) return;
    const since = now - this.bound;
    if (this.quietUntil > since || this.impaired(MONITOR, since, now)) return;
    const well = (o: number): boolean => !this.impaired(o, since, now);
    const observers = this.observers[node] as number[];
    const others = this.members.filter((m) => m !== node && well(m)).length;
    const sighted = others >= this.majority || (this.members.length === 2 && others === 1 && this.h.witness);
    if (!sighted || observers.filter(well).length * 2 <= observers.length) return;
    this.toldLate.add(node);
    const silent = Math.round(now - (this.signAt[node] as number));
    this.violated(node, now, `${verdict}, although it has answered nobody for ${silent} ms`);
  }

  /** Something went wrong with this observer, or on its way to the monitor, or with the monitor itself. */
  private impaired(node: number, since: number, now: number): boolean {
    const margin = 2 * this.n.interval;
    const between = (f: { from: number; until: number }): boolean => f.from < now && f.until + margin > since;
    if (node !== MONITOR) {
      const life = this.world.process(node, now);
      if (!life || life.from + margin > since) return true;
    }
    return this.world.faults.some((f) => {
      switch (f.kind) {
        case 'pause':
        case 'stall':
        case 'unsent':
        case 'lossy':
          return f.node === node && between(f);
        case 'cut':
          return (
            [f.a, f.b].some((s) => s.includes(MONITOR)) &&
            [f.a, f.b].some((s) => s.includes(node)) &&
            between(f) &&
            node !== MONITOR
          );
        case 'bus':
        case 'monitor-pause':
        case 'takeover':
        case 'registry':
          return between(f);
        case 'numbers':
          return between({ from: f.from, until: f.from + RETUNING });
        default:
          return false;
      }
    });
  }

  /** What waited for a monitor that stood still is as of when it came; of a short standstill it knows nothing. */
  private counted(arrivedAt: number, readAt: number): number {
    return readAt - arrivedAt > this.ownGap ? arrivedAt : readAt;
  }

  /** ms for which something may have waited for a stopped monitor: it counts from its last round before. */
  private waited(at: number): number {
    const pauses = this.world.of('monitor-pause').filter((p) => p.from < at && at <= p.until + DRAIN);
    return Math.max(0, ...pauses.map((p) => at - p.from));
  }

  /** Read so soon after a standstill of the monitor that it may have waited there. */
  private isDrained(readAt: number): boolean {
    const pauses = this.world.of('monitor-pause').filter((p) => p.until - p.from > this.ownGap);
    return pauses.some((p) => readAt >= p.until && readAt < p.until + DRAIN);
  }

  private get ownGap(): number {
    return Math.min(OWN_GAP, this.n.reportPeriod);
  }

  private stoodLately(node: number, at: number): boolean {
    const span = this.numbersOf(node, at).interval * ABSTAIN - 1;
    const start = this.startedAt[node] as number;
    return this.world
      .standstillsOf(node)
      .some(
        (p) =>
          p.until - Math.max(p.from, start) > this.loopGapOf(node, p.until) && p.until <= at && at - p.until < span,
      );
  }

  /** A member whose word counts now. */
  private reports(node: number, now: number): boolean {
    const word = this.words[node];
    return word !== undefined && now - word.at <= this.n.freshness && !word.spoken.abstains && !word.spoken.leaving;
  }

  private loopGapOf(node: number, t: number): number {
    return this.numbersOf(node, t).loopGap;
  }

  /** For as long as the silence timeout, what it sent to the target on this network left it, and had no answer. */
  private wasAsked(observer: number, target: number, network: string, at: number): boolean {
    const since = Math.max(this.startedAt[observer] as number, this.answeredAt[observer]?.[target] as number);
    const n = this.numbersOf(observer, at);
    const asked = at - since - this.world.unsentFor(observer, target, network, since, at);
    return asked >= silenceTimeout(n) * IN_TIME - n.interval;
  }

  /**
   * No answer for the silence timeout on those networks on which it can send, where there is one; and this process ran
   * for long enough since to have sent and missed all the probes.
   */
  private wasSilent(observer: number, target: number, mute: readonly string[], at: number): boolean {
    const standstills = this.world.standstillsOf(observer);
    let since = Math.max(this.startedAt[observer] as number, this.answeredBeside(mute, observer, target));
    for (const p of standstills) {
      if (p.until > at || p.until <= since) continue;
      if (p.until - p.from > silenceTimeout(this.numbersOf(observer, p.until))) since = p.until;
    }
    let ran = at - since;
    for (const p of standstills)
      if (p.until - p.from > this.loopGapOf(observer, p.until))
        ran -= Math.max(0, Math.min(p.until, at) - Math.max(p.from, since));
    const timeout = silenceTimeout(this.numbersOf(observer, at));
    const slack = this.slack(observer, since, at);
    return at - since >= timeout - slack && ran >= timeout * IN_TIME - slack;
  }

  /**
   * So much sooner than after the silence timeout an observer may miss what it heard last at `since`. After a
   * standstill too short to be one, the next probe follows the late one sooner; where echoes take nearly as long as
   * they may, so does the one after it, which had to wait for the late one's.
   */
  private slack(observer: number, since: number, at: number): number {
    const { interval } = this.numbersOf(observer, at);
    return this.world
      .standstillsOf(observer)
      .filter((p) => p.until - p.from <= this.loopGapOf(observer, p.until))
      .filter((p) => p.until > since - 2 * interval && p.from < at)
      .reduce((sum, p) => sum + p.until - p.from, interval / 5);
  }

  /** Its last answer on any other network than these; where these are all, on any of them. */
  private answeredBeside(mute: readonly string[], observer: number, target: number): number {
    const { networks } = this.h;
    if (mute.length === 0 || mute.length === networks.length) return this.answeredAt[observer]?.[target] as number;
    const others = networks.flatMap((network, i) => (mute.includes(network) ? [] : [this.answeredOn[i]]));
    return Math.max(...others.map((answered) => answered?.[observer]?.[target] as number));
  }

  private sign(node: number, at: number): void {
    this.signAt[node] = Math.max(this.signAt[node] as number, at);
  }

  /** The first of each kind in a row. */
  private violated(node: number, at: number, what: string): void {
    const last = this.violations.at(-1);
    if (last !== undefined && last.node === this.names[node] && last.what === what) return;
    this.violations.push({ node: this.names[node] as string, time: Math.round(at), what });
  }
}

const isAfter = (a: Spoken, b: Spoken): boolean => a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq);

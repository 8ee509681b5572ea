import { BEACON_PERIOD_MS, STORM_NEWS_MS, type BlindnessEnd, type DetectionSettings } from '#contracts';

/** ms that our own loop may stand still at most, and never longer than a report period: beyond, ages are not believed. */
const OWN_GAP = 1000;
/** Report periods without a verdict: then everyone has spoken again. */
const QUIET_PERIODS = 2;

/** ms in which what has waited during a standstill is read. */
const DRAIN = 200;

/** ms after we began to listen in which reports may be missing for the same cause: agents are still coming back to the bus. */
const RECONNECT = 5000;

type Numbers = Pick<DetectionSettings, 'reportPeriod'>;

/**
 * Whether the monitor may judge. It may not before everyone has spoken again: after its start, a takeover, when the bus
 * came back, and after its own loop stood still, for what waited in its sockets looks as if it had just been said.
 * Whoever is about to judge measures first: a process that was stopped goes on in the middle of its loop, not with the
 * timer that would notice. Times are monotonic ms.
 */
export class Attention {
  private since: number;
  private measuredAt: number;
  /** Undefined: it has had no reason to speak yet. */
  private quietUntil: number | undefined;
  private asleep = { from: -Infinity, until: -Infinity };
  private withoutQuorum = true;
  /** Since when there is no quorum, where there is none. */
  private withoutSince: number;
  private listensSince: number;
  /** Agents have had the time to come back: reports that are missing are missing for a cause that is not its own. */
  private gaveTime = false;
  /** The last blindness by missing reports. */
  private ended: { is: BlindnessEnd; at: number } | undefined;

  constructor(now: number) {
    this.since = now;
    this.listensSince = now;
    this.withoutSince = now;
    this.measuredAt = now;
  }

  /** Since when the reports of enough members reach us without a gap. */
  get listeningSince(): number {
    return this.since;
  }

  /** For how long the loop stood still since the last measurement, where that was too long. */
  measureGap(now: number, n: Numbers): number | undefined {
    const gap = now - this.measuredAt;
    const tooLong = gap > Math.min(OWN_GAP, n.reportPeriod);
    if (tooLong) this.asleep = { from: this.measuredAt, until: now };
    this.measuredAt = now;
    return tooLong ? gap : undefined;
  }

  /** As of when a report counts that is read now: one that may have waited is as old as it can be. */
  heardAt(now: number): number {
    return now < this.asleep.until + DRAIN ? this.asleep.from : now;
  }

  /** Reports are missing before now. */
  listenAnew(now: number): void {
    this.since = now;
    this.listensSince = now;
    this.gaveTime = false;
  }

  /**
   * Whether too few members report to judge at all. When enough do again, a fleet that was split in halves is just being
   * joined: whose own report has not come yet must not count as silent for all the time before. A monitor that began to
   * listen in the middle of a storm never saw enough: what is missing for longer than agents need is missing all the same.
   *
   * @param asOf what a blindness that ends now is told with
   */
  sees(withoutQuorum: boolean, now: number, asOf: () => BlindnessEnd): void {
    const isBack = this.withoutQuorum && !withoutQuorum;
    if (isBack) this.since = now;
    // A shorter one no beacon tells of, and nobody took it for one.
    const hasLasted = now - this.withoutSince >= BEACON_PERIOD_MS;
    if (isBack && this.gaveTime && hasLasted) this.ended = { is: asOf(), at: now };
    if (!this.withoutQuorum && withoutQuorum) this.withoutSince = now;
    this.withoutQuorum = withoutQuorum;
    const isLasting = !withoutQuorum || now - this.withoutSince >= RECONNECT;
    if (isLasting && now - this.listensSince >= RECONNECT) this.gaveTime = true;
  }

  /** Why there is no quorum, if there is none: too few reports come, or it has not listened for long enough since it was away itself. */
  get noQuorumBy(): 'reports' | 'own' {
    return this.gaveTime ? 'reports' : 'own';
  }

  /** The last blindness by missing reports that has ended, while that is news. */
  blindnessEnded(now: number): BlindnessEnd | undefined {
    const { ended } = this;
    return ended !== undefined && now - ended.at < STORM_NEWS_MS ? ended.is : undefined;
  }

  /** Verdicts are numbered anew: what ended before ended before the first. */
  beginTerm(): void {
    if (this.ended !== undefined) this.ended = { ...this.ended, is: { ...this.ended.is, seq: 0 } };
  }

  /** For two report periods from now on, and no shorter than it had to be quiet before. */
  beQuiet(now: number, n: Numbers): void {
    this.quietUntil = Math.max(this.quietUntil ?? now, now + QUIET_PERIODS * n.reportPeriod);
  }

  isQuiet(now: number): boolean {
    return this.quietUntil === undefined || now < this.quietUntil;
  }
}

import type { Clock } from '#contracts/ports/clock.js';
import type { RejoinCounts } from '#contracts/wire/report.js';

/**
 * What makes the loop ask a lost peer to rejoin: its timer, another peer list, NATS back, an own link up, a lost peer
 * that was heard, and between the runs the low-rate probe.
 */
export type RejoinWhy = 'timer' | 'peer-list' | 'nats' | 'link-up' | 'heard' | 'low-rate';

/** One thing that happened to one peer. */
export interface RejoinHappening {
  /** Wall clock, ms: for people. */
  at: number;
  peer: string;
  what: 'lost' | 'greeted' | 'joined';
  /** What began the attempt; of a loss that the peer was silent. */
  why: RejoinWhy | 'silent';
}

/** Happenings that are kept. */
const KEPT = 50;

/** What the rejoin loop did and why, for people and for metrics. */
export class RejoinDiary {
  private readonly last: RejoinHappening[] = [];
  private readonly runs: Partial<Record<RejoinWhy, number>> = {};
  private readonly totals = { lost: 0, greeted: 0, joined: 0 };

  constructor(private readonly clock: Pick<Clock, 'wallMs'>) {}

  note(peer: string, what: RejoinHappening['what'], why: RejoinHappening['why']): void {
    this.totals[what]++;
    this.last.push({ at: this.clock.wallMs(), peer, what, why });
    if (this.last.length > KEPT) this.last.shift();
  }

  ran(why: RejoinWhy): void {
    this.runs[why] = (this.runs[why] ?? 0) + 1;
  }

  /** Newest last. */
  happenings(): RejoinHappening[] {
    return [...this.last];
  }

  counts(lostNow: number): RejoinCounts {
    return { runs: { ...this.runs }, ...this.totals, lostNow };
  }
}

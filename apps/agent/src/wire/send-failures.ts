import type { DetectionSettings } from '#contracts/settings/settings.js';

/**
 * Intervals without a datagram that left, although some were to: in one, every peer is probed, so there is none on that
 * network to whom we can send. One peer whose route is gone is not that.
 */
const MUTE_INTERVALS = 1.5;

/** Datagrams in a row that did not leave on one network, to whomever: evidence against ourselves. Times are monotonic ms. */
export class SendFailures {
  private count = 0;
  private since = Infinity;

  left(): void {
    this.count = 0;
    this.since = Infinity;
  }

  failed(now: number): void {
    if (this.count++ === 0) this.since = now;
  }

  /** How many, where nothing leaves at all; 0 where something does. */
  total(n: Pick<DetectionSettings, 'interval'>, now: number): number {
    return now - this.since < n.interval * MUTE_INTERVALS ? 0 : this.count;
  }
}

import { BEACON_FRESH_MS, STORM_NEWS_MS, type Beacon } from '#contracts';
import { isNewer } from '#domain/verdict/newer.js';

/** ms from a detector's first word that it sees the fleet until it has judged everyone, and all of that has come. */
export const SETTLES_MS = 500;

/** The end of a blindness that missing reports made, as it was heard. */
export interface HeardEnd {
  readonly epoch: number;
  readonly seq: number;
  /** Who was silent at it, where it was learnt of afterwards. Undefined: it was heard, and who is silent right after it counts. */
  readonly silent: readonly string[] | undefined;
}

/**
 * Whether the detector sees the fleet, and has for long enough; and what made it blind before. Where reports were missing
 * those that are silent at its end may be so for the same cause; where it was away itself (a start, a takeover, a lost
 * bus) that says nothing of them.
 */
export class SightWatch {
  private last: { beacon: Pick<Beacon, 'epoch' | 'sighted'>; at: number } | undefined;
  private since: number | undefined;
  private missing = false;
  private end: (HeardEnd & { at: number }) | undefined;

  /** @param now monotonic ms */
  hear(beacon: Pick<Beacon, 'epoch' | 'seq' | 'sighted' | 'blindBy' | 'blindnessEnded'>, now: number): void {
    const learnt = this.endToldBy(beacon);
    if (learnt !== undefined) this.end = { ...learnt, at: now };
    const was = this.last;
    this.last = { beacon, at: now };
    const isSame = was?.beacon.epoch === beacon.epoch;
    const goesOn = was !== undefined && isSame && now - was.at < BEACON_FRESH_MS;
    if (!beacon.sighted) {
      // An older detector does not say why.
      this.missing =
        beacon.blindBy === undefined ? goesOn && (was.beacon.sighted || this.missing) : beacon.blindBy === 'reports';
      this.since = undefined;
      return;
    }
    // Who was cut off itself, for less than it notices, hears of a blindness between two beacons that see.
    if (goesOn && was.beacon.sighted && learnt === undefined) return;
    // Who hears nobody for a while does not hear the end itself: it was blind, and the same one sees by now.
    if (this.missing && isSame) {
      const seq = learnt?.seq ?? beacon.seq;
      this.end = { epoch: beacon.epoch, seq, silent: undefined, at: now };
    }
    this.missing = false;
    this.since = now;
  }

  /** Later than the last that is known. */
  private endToldBy({ epoch, blindnessEnded }: Pick<Beacon, 'epoch' | 'blindnessEnded'>): HeardEnd | undefined {
    if (blindnessEnded === undefined) return undefined;
    const { seq, silent } = blindnessEnded;
    return isNewer({ epoch, seq }, this.end) ? { epoch, seq, silent } : undefined;
  }

  /** It has seen the fleet for long enough that everyone is judged. */
  hasSettled(now: number): boolean {
    return this.since !== undefined && now - this.since >= SETTLES_MS;
  }

  /** The last end of a blindness that missing reports made, while it is news. */
  ended(now: number): HeardEnd | undefined {
    const { end } = this;
    if (end === undefined || now - end.at >= STORM_NEWS_MS) return undefined;
    const { at: _heard, ...rest } = end;
    return rest;
  }
}

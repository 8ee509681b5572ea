const SLOTS = 6;
const SLOT_MS = 10_000;

/**
 * How many probes of a link were judged and how many of them lost within about the last minute: six slots of ten
 * seconds, the oldest is forgotten as a new one begins. Times are monotonic ms.
 */
export class LinkQuality {
  private readonly judged = new Uint16Array(SLOTS);
  private readonly lost = new Uint16Array(SLOTS);
  private slot = 0;

  count(judged: number, lost: number, now: number): void {
    const i = this.turn(now);
    this.judged[i]! += judged;
    this.lost[i]! += lost;
  }

  /** In a thousand; 0 also where nothing was judged. */
  lostPermille(now: number): number {
    this.turn(now);
    let judged = 0;
    let lost = 0;
    for (let i = 0; i < SLOTS; i++) {
      judged += this.judged[i]!;
      lost += this.lost[i]!;
    }
    return judged === 0 ? 0 : Math.round((1000 * lost) / judged);
  }

  /** Index of the slot of `now`; empties what is older than a minute. */
  private turn(now: number): number {
    const slot = Math.floor(now / SLOT_MS);
    for (let s = Math.max(this.slot + 1, slot - SLOTS + 1); s <= slot; s++) {
      this.judged[s % SLOTS] = 0;
      this.lost[s % SLOTS] = 0;
    }
    this.slot = Math.max(slot, this.slot);
    return this.slot % SLOTS;
  }
}

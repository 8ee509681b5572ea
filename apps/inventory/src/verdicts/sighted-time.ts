import { BEACON_FRESH_MS } from '#contracts';

/** How long a detector was heard that saw the fleet: the time between two beacons that both say so, one soon after the other. */
export class SightedTime {
  private last: { sighted: boolean; at: number } | undefined;
  private passed = 0;

  /** A beacon; `now`: monotonic, ms. */
  hear(sighted: boolean, now: number): void {
    const gap = this.last?.sighted === true && sighted ? now - this.last.at : Infinity;
    if (gap < BEACON_FRESH_MS) this.passed += gap;
    this.last = { sighted, at: now };
  }

  /** ms, as of the last beacon. */
  get ms(): number {
    return this.passed;
  }
}

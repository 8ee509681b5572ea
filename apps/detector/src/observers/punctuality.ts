/** ms of a window; the earliest reports of this one and the one before it say how long a report takes. */
const WINDOW = 5_000;

/**
 * How late the reports of one agent are, against the most punctual of the last 5 to 10 s: one that waited on its way, in
 * a connection that hung or in our own sockets, is older than the moment in which we read it. Clocks of two machines are
 * never compared: only the differences of one are with the differences of the other. A clock that stood still with its
 * machine, or drifts, is forgotten with the windows.
 */
export class Punctuality {
  private epoch: number | undefined;
  private begun = -Infinity;
  private least = Infinity;
  private leastBefore = Infinity;

  /**
   * ms by which this report is later than the most punctual one.
   * @param epoch of the process that sent it: the clock of another one says nothing
   * @param sentMs its clock, and `now` ours, monotonic ms
   */
  lateness(epoch: number, sentMs: number, now: number): number {
    if (epoch !== this.epoch) Object.assign(this, { epoch, begun: now, least: Infinity, leastBefore: Infinity });
    if (now - this.begun >= WINDOW) {
      this.leastBefore = now - this.begun < 2 * WINDOW ? this.least : Infinity;
      this.least = Infinity;
      this.begun = now;
    }
    const took = now - sentMs;
    this.least = Math.min(this.least, took);
    return took - Math.min(this.least, this.leastBefore);
  }
}

/**
 * Notices that an own network works again although its socket stayed bound: our sends succeed after failures (the
 * address or the route came back), or something is heard after silence from everybody (the cable, the switch). Either
 * counts as "own link up". A network with nobody on it gives a needless run at the first word, which asks nobody.
 */
export class NetworkWatch {
  private dark = false;
  private failing = false;

  /** @param heardAt monotonic ms of the start */
  constructor(private heardAt: number) {}

  /** An authenticated datagram came in. True: the first after the silence. */
  heard(now: number): boolean {
    this.heardAt = now;
    const up = this.dark;
    this.dark = false;
    return up;
  }

  /**
   * Called with each step of the loop. True: sends succeed again.
   *
   * @param silence ms without a word after which the network counts as silent
   * @param sendErrors consecutive
   */
  update(now: number, silence: number, sendErrors: number): boolean {
    if (now - this.heardAt > silence) this.dark = true;
    const up = this.failing && sendErrors === 0;
    this.failing = sendErrors > 0;
    return up;
  }
}

import type { TaskRun } from './task.js';

/**
 * After so long, ms, a new conductor knows of everybody who lives: agents and workers have connected again, a worker of
 * the same name has waited its 6 s, and has tested its drivers.
 */
export const SETTLE_MS = 15_000;

/**
 * What only others tell (who is alive, what runs where) is not known yet to who has just begun to look: that somebody
 * lacks is then no news. It is told of only; what is decided on it fails closed all the same.
 */
export class Settling {
  private term: number | undefined;
  private since = 0;
  private known = false;

  /**
   * To be asked each round.
   * @param live no view has a gap; after one all is looked at anew
   * @param all nobody lacks as of now: then everything is known, however soon
   */
  hasSettled(c: Pick<TaskRun, 'token' | 'now'>, live: boolean, all: boolean): boolean {
    if (c.token !== this.term || !live) {
      this.term = c.token;
      this.since = c.now;
      this.known = false;
    }
    this.known ||= live && (all || c.now - this.since >= SETTLE_MS);
    return this.known;
  }
}

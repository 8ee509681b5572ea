import { setTimeout as pause } from 'node:timers/promises';
import type { Wire } from '#bus/ports/wire.js';
import type { Standstill } from './contract-world.js';

const EVERY_MS = 50;

/** Asks the server again and again: an answer that is late tells that it, or this process, had no time on the machine. */
export class Pulse {
  private readonly watching = new Set<{ longest: number }>();
  private readonly beating: Promise<void>;
  private at = performance.now();
  private over = false;

  constructor(private readonly wire: Wire) {
    this.beating = this.beat();
  }

  watch(): Standstill {
    const seen = { longest: 0 };
    this.watching.add(seen);
    // What is late right now counts, too.
    return {
      longestMs: () => Math.max(seen.longest, this.wire.connected ? performance.now() - this.at - EVERY_MS : 0),
      end: () => void this.watching.delete(seen),
    };
  }

  async end(): Promise<void> {
    this.over = true;
    await this.beating;
  }

  private async beat(): Promise<void> {
    while (!this.over) {
      this.at = performance.now();
      await pause(EVERY_MS);
      this.count();
      if (await this.answered()) this.count();
    }
  }

  private count(): void {
    const late = performance.now() - this.at - EVERY_MS;
    for (const seen of this.watching) seen.longest = Math.max(seen.longest, late);
  }

  /** False: there is no connection, as while the server restarts, which says nothing. */
  private answered(): Promise<boolean> {
    if (!this.wire.connected) return Promise.resolve(false);
    return new Promise((resolve) => {
      const off = this.wire.onStatus(() => end(false));
      const end = (answered: boolean): void => {
        off();
        resolve(answered);
      };
      this.wire.flush().then(
        () => end(true),
        () => end(false),
      );
    });
  }
}

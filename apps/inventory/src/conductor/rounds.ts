import type { Clock } from '#contracts';

/** Between the starts of two runs, ms: a burst of changes is looked at together. */
const GAP_MS = 10;

/** Runs one thing again and again, never twice at once: wakes that come while it runs make exactly one more run. */
export class Rounds {
  private running: Promise<void> | undefined;
  private again = false;
  private closed = false;
  private endPause: (() => void) | undefined;

  /** @param run must not reject: it deals with its own failures */
  constructor(
    private readonly run: () => Promise<void>,
    private readonly clock: Clock,
  ) {}

  wake(): void {
    if (this.closed) return;
    if (this.running !== undefined) {
      this.again = true;
      return;
    }
    this.running = this.loop().finally(() => {
      this.running = undefined;
      // A wake between the loop's last look and this line must not be lost.
      if (this.again) this.wake();
    });
  }

  /** Resolves when the run in progress has ended; no further one starts. */
  async close(): Promise<void> {
    this.closed = true;
    this.again = false;
    this.endPause?.();
    await this.running;
  }

  private async loop(): Promise<void> {
    do {
      this.again = false;
      const begun = this.clock.monotonicMs();
      await this.run();
      await this.pause(begun + GAP_MS - this.clock.monotonicMs());
    } while (this.again && !this.closed);
  }

  private pause(ms: number): Promise<void> {
    if (ms <= 0 || this.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.clock.after(ms, resolve);
      this.endPause = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

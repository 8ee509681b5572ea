/** Runs one thing again and again, never twice at once: wakes that come while it runs make exactly one more run. */
export class Rounds {
  private running: Promise<void> | undefined;
  private again = false;
  private closed = false;

  /** @param run must not reject: it deals with its own failures */
  constructor(private readonly run: () => Promise<void>) {}

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
    await this.running;
  }

  private async loop(): Promise<void> {
    do {
      this.again = false;
      await this.run();
    } while (this.again && !this.closed);
  }
}

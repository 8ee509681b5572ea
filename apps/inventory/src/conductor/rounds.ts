import type { Clock, Timer } from '#contracts';

/** Between the starts of two runs, ms: a burst of changes is looked at together. */
const GAP_MS = 10;

/** Runs one thing again and again, never twice at once: wakes that come while it runs make exactly one more run. */
export class Rounds {
  /** `true`: it has begun, and has not yet said whether it is to be waited for. */
  private running: Promise<void> | true | undefined;
  /** Woken within the gap: it runs at its end. */
  private due: Timer | undefined;
  private again = false;
  private closed = false;
  /** Monotonic ms of the latest start. */
  private begunAt = -Infinity;

  /** @param run must not reject: it deals with its own failures. Undefined: it is over */
  constructor(
    private readonly run: () => Promise<void> | undefined,
    private readonly clock: Clock,
  ) {}

  wake(): void {
    if (this.closed || this.due !== undefined) return;
    if (this.running !== undefined) {
      this.again = true;
      return;
    }
    const gap = this.begunAt + GAP_MS - this.clock.monotonicMs();
    if (gap <= 0) return this.begin();
    this.due = this.clock.after(gap, () => {
      this.due = undefined;
      this.begin();
    });
  }

  /** Resolves when the run in progress has ended; no further one starts. */
  async close(): Promise<void> {
    this.closed = true;
    this.due?.cancel();
    await this.running;
  }

  private begin(): void {
    this.again = false;
    this.begunAt = this.clock.monotonicMs();
    this.running = true;
    let run: Promise<void> | undefined;
    try {
      run = this.run();
    } finally {
      if (run === undefined) this.end();
    }
    if (run !== undefined) this.running = run.finally(() => this.end());
  }

  private end(): void {
    this.running = undefined;
    if (this.again) this.wake();
  }
}

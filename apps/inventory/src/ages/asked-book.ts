import type { Clock } from '#contracts';

/** Nobody asks how long ago it was once it is older, ms. */
const FORGOTTEN_MS = 60_000;

/** What this process has asked last, and when, on its own monotonic clock. */
export class AskedBook {
  private readonly at = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  note(marks: Iterable<string>): void {
    const now = this.clock.monotonicMs();
    for (const [mark, at] of this.at) if (now - at > FORGOTTEN_MS) this.at.delete(mark);
    for (const mark of marks) this.at.set(mark, now);
  }

  /** ms; undefined: never, or long ago. */
  agoMs(mark: string): number | undefined {
    const at = this.at.get(mark);
    return at === undefined ? undefined : this.clock.monotonicMs() - at;
  }
}

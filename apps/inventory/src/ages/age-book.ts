import type { Clock } from '#contracts';

/**
 * Since when this process has seen a thing, on its own monotonic clock. Wall-clock times in records come from other
 * machines and are never compared; what was never seen is as young as can be.
 */
export class AgeBook {
  private readonly first = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Notes it where it is new. @returns its age in ms */
  see(key: string): number {
    const now = this.clock.monotonicMs();
    const since = this.first.get(key);
    if (since !== undefined) return now - since;
    this.first.set(key, now);
    return 0;
  }

  /** Age in ms; 0 where it was never seen. */
  ageMs(key: string): number {
    const since = this.first.get(key);
    return since === undefined ? 0 : this.clock.monotonicMs() - since;
  }

  forget(key: string): void {
    this.first.delete(key);
  }

  /** Forgets every key that is not wanted. */
  retain(wanted: (key: string) => boolean): void {
    for (const key of this.first.keys()) if (!wanted(key)) this.first.delete(key);
  }

  /** Sees all of these, and forgets every other. */
  keep(keys: Iterable<string>): void {
    const wanted = new Set(keys);
    for (const key of this.first.keys()) if (!wanted.has(key)) this.first.delete(key);
    for (const key of wanted) this.see(key);
  }
}

import type { Clock } from '#contracts';

/**
 * How old a thing is, across restarts: what the last checkpoint said, and this process's own time since it saw that; or
 * its own time since it saw the thing, where that is more. Never more than it is; less by what passed between a
 * checkpoint and the death of its writer. Keys name one thing for ever: an age is never that of another.
 */
export class CheckpointedAges {
  private readonly known = new Map<string, { base: number; since: number }>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** Sees all of these, forgets every other, and believes a checkpoint that knows more. */
  keep(keys: Iterable<string>, checkpoint: Readonly<Record<string, number>> = {}): void {
    const wanted = new Set(keys);
    for (const key of this.known.keys()) if (!wanted.has(key)) this.known.delete(key);
    const now = this.clock.monotonicMs();
    for (const key of wanted) {
      // Nothing is younger than new, whatever a record says.
      const said = Object.hasOwn(checkpoint, key) ? Math.max(0, checkpoint[key] ?? 0) : 0;
      const was = this.known.get(key);
      if (was === undefined || said > was.base + now - was.since) this.known.set(key, { base: said, since: now });
    }
  }

  /** ms; 0 where it was never seen. */
  ageMs(key: string): number {
    const k = this.known.get(key);
    return k === undefined ? 0 : k.base + this.clock.monotonicMs() - k.since;
  }
}

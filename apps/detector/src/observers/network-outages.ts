import { silenceTimeout, type DetectionSettings } from '#contracts';

/** Since when networks are out by the word of most members, by our own looks. Times are monotonic ms. */
export class NetworkOutages {
  private readonly since = new Map<string, number>();

  /**
   * Those that have been out for the silence timeout. Only then is whatever was heard there older than that: before,
   * the silence on the other network alone would tell that a node is dead that answered on this one a moment ago.
   * @param out those that are out now
   */
  lasting(out: ReadonlySet<string>, now: number, n: DetectionSettings): ReadonlySet<string> {
    for (const network of this.since.keys()) if (!out.has(network)) this.since.delete(network);
    for (const network of out) if (!this.since.has(network)) this.since.set(network, now);
    if (out.size === 0) return out;
    return new Set([...out].filter((network) => now - (this.since.get(network) ?? now) >= silenceTimeout(n)));
  }

  /** We did not look for a while, or by other numbers. */
  forget(): void {
    this.since.clear();
  }
}

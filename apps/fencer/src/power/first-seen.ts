/** Since when something of each node stands as it does, by when this process first saw it so. */
export class FirstSeen {
  private readonly marks = new Map<string, { mark: string; sinceMs: number }>();

  /** @param now own monotonic clock, ms: the answer where the mark is another than before */
  since(node: string, mark: string, now: number): number {
    const known = this.marks.get(node);
    if (known?.mark === mark) return known.sinceMs;
    this.marks.set(node, { mark, sinceMs: now });
    return now;
  }

  /** Forgets the nodes that are in it no more. */
  keep(nodes: { get(node: string): unknown }): void {
    for (const node of this.marks.keys()) if (nodes.get(node) === undefined) this.marks.delete(node);
  }
}

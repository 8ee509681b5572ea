import type { Beacon } from '#contracts';
import { StormNumbers } from '#domain/incident/storm-counts.js';
import { isSilent } from '#domain/verdict/latest-verdict.js';
import { NEWS_MS } from './sight-watch.js';

/** A node that is called silent, and since when, monotonic ms. */
export interface SilentSince {
  readonly node: string;
  readonly since: number;
}

/**
 * Who was silent at the same moment, a moment ago. Every process hears it, so that a new conductor knows of a storm that
 * began, and half of which healed, while nobody decided.
 */
export class SilenceWatch {
  private readonly since = new Map<string, number>();
  private most: { nodes: readonly SilentSince[]; at: number } | undefined;

  /** @param now monotonic ms */
  hear({ sighted, notUp }: Pick<Beacon, 'sighted' | 'notUp'>, now: number): void {
    // Without quorum nobody is called silent, nor well.
    if (!sighted) return;
    const silent = new Set(Object.keys(notUp).filter((node) => isSilent(notUp[node]?.verdict)));
    for (const node of this.since.keys()) if (!silent.has(node)) this.since.delete(node);
    for (const node of silent) if (!this.since.has(node)) this.since.set(node, now);
    const nodes = [...this.since]
      .filter(([, since]) => now - since < StormNumbers.candidateWindow)
      .map(([node, since]) => ({ node, since }));
    if (nodes.length >= this.together(now).length) this.most = { nodes, at: now };
  }

  /** The most that were silent at once, while that is news. */
  together(now: number): readonly SilentSince[] {
    const { most } = this;
    return most !== undefined && now - most.at < NEWS_MS ? most.nodes : [];
  }
}

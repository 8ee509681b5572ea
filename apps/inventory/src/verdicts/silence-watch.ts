import { STORM_NEWS_MS, type Beacon, type Clock } from '#contracts';
import { StormNumbers } from '#domain/incident/storm-counts.js';
import { isSilent } from '#domain/verdict/latest-verdict.js';
import { AgeBook } from '../ages/age-book.js';

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
  private readonly ages: AgeBook;
  private most: { nodes: readonly SilentSince[]; at: number } | undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.ages = new AgeBook(clock);
  }

  hear({ sighted, notUp }: Pick<Beacon, 'sighted' | 'notUp'>): void {
    // Without quorum nobody is called silent, nor well.
    if (!sighted) return;
    const silent = Object.keys(notUp).filter((node) => isSilent(notUp[node]?.verdict));
    this.ages.keep(silent);
    const at = this.clock.monotonicMs();
    const nodes = silent
      .map((node) => ({ node, since: at - this.ages.ageMs(node) }))
      .filter(({ since }) => at - since < StormNumbers.candidateWindow);
    if (nodes.length >= this.together().length) this.most = { nodes, at };
  }

  /** The most that were silent at once, while that is news. */
  together(): readonly SilentSince[] {
    const { most } = this;
    return most !== undefined && this.clock.monotonicMs() - most.at < STORM_NEWS_MS ? most.nodes : [];
  }
}

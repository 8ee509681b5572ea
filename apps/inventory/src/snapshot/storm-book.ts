import type { Clock } from '#contracts';
import { AgeBook } from '../ages/age-book.js';
import { CheckpointedAges } from '../ages/checkpointed-ages.js';
import { ageMs, type AgeMs } from './ages.js';

/** How old it all is, by this process's own clock and the last checkpoint: never more than it is. */
export interface StormAges {
  /** Of a permit, an open incident or a storm, by its key; one that was not seen is as young as can be. */
  of(key: string): AgeMs;
  /** Of the silence of a node, as this process has seen it. */
  ofSilence(node: string): AgeMs;
}

/** What is kept between two rounds about storms. */
export interface StormsKept extends StormAges {
  /**
   * Since who conducts in this term has written a checkpoint, or has begun its rounds, as of its last round: it first
   * learns from the one before how old all is.
   */
  sinceCheckpoint(term: number): AgeMs;
}

/** What there is now to keep the ages of. */
export interface StormsSeen {
  /** Of permits, open incidents and storms. */
  readonly keys: readonly string[];
  /** The last checkpoint of their ages. */
  readonly checkpoint: Readonly<Record<string, number>> | undefined;
  /** Nodes that are silent. */
  readonly silent: readonly string[];
}

/** Keeps the ages of permits, incidents, storms and silences, for all tasks. Answers are as of the call, not of a snapshot. */
export class StormBook implements StormsKept {
  private readonly ages: CheckpointedAges;
  private readonly silentSince: AgeBook;
  private notedAt = 0;
  private written: { term: number; at: number } | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.ages = new CheckpointedAges(clock);
    this.silentSince = new AgeBook(clock);
  }

  of(key: string): AgeMs {
    return ageMs(this.ages.ageMs(key));
  }

  ofSilence(node: string): AgeMs {
    return ageMs(this.silentSince.ageMs(node));
  }

  sinceCheckpoint(term: number): AgeMs {
    return ageMs(this.written?.term === term ? this.notedAt - this.written.at : 0);
  }

  /** What is seen now has an age from now on; what is not seen any more has none. */
  see({ keys, checkpoint, silent }: StormsSeen): void {
    this.seeKeys(keys, checkpoint);
    this.seeSilent(silent);
  }

  seeKeys(keys: readonly string[], checkpoint: StormsSeen['checkpoint']): void {
    this.ages.keep(keys, checkpoint);
  }

  seeSilent(nodes: readonly string[]): void {
    this.silentSince.keep(nodes);
  }

  /**
   * Notes what a run of who conducts in this term has seen.
   * @param now monotonic ms, of its run
   * @param seen undefined: not all of it is known, and every age goes on
   */
  note(term: number, now: number, seen: StormsSeen | undefined): void {
    this.notedAt = now;
    if (this.written?.term !== term) this.written = { term, at: now };
    if (seen !== undefined) this.see(seen);
  }

  /** The ages of the last {@link note} were written down, or there was nothing that is worth it. */
  checkpointed(): void {
    if (this.written !== undefined) this.written = { term: this.written.term, at: this.notedAt };
  }
}

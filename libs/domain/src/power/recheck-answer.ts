/**
 * Inventory's answer to the recheck right before a power-off, and what it rests on. Times on the asker's own monotonic
 * clock, ms.
 */
export interface RecheckAnswer {
  /** When it was asked for: the verdict may be as old as that. */
  atMs: number;
  go: boolean;
  reason: string;
  /** Of the incident, as inventory looked at it. */
  revision: number;
  /** Of the settings, read before asking: a pause that was set since is in a later one. */
  settings: number;
  /** How many answers in a row, this one included, took longer than an answer counts. */
  slow: number;
}

/** An answer counts for so long from its asking, ms. */
const RECHECK_ANSWER_MS = 500;
/** The same where inventory is slow: its answers would never count otherwise. As long as one was waited for. */
const SLOW_RECHECK_ANSWER_MS = 2_000;
const SLOW_ANSWERS = 2;

/** Nothing is known to stand against the power-off, and nobody looked too long ago. */
export const counts = (a: RecheckAnswer | undefined, now: number): a is RecheckAnswer =>
  a !== undefined && a.go && now - a.atMs <= (a.slow < SLOW_ANSWERS ? RECHECK_ANSWER_MS : SLOW_RECHECK_ANSWER_MS);

/** It was given for the incident as it stands in this revision: whoever cancelled it has written another. */
export const isFor = (a: RecheckAnswer, revision: number): boolean => a.revision === revision;

/** @param before the one that was asked for before it */
export const slowAnswers = (before: RecheckAnswer | undefined, tookMs: number): number =>
  tookMs <= RECHECK_ANSWER_MS ? 0 : (before?.slow ?? 0) + 1;

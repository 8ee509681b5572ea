import type { ObserverEvidence, WordlessObserver } from '#contracts';
import type { Heard } from './report-book.js';
import type { Vote } from './stance.js';

/**
 * Those who were to speak of the target and are not in the evidence: they are in the denominator of every majority, so
 * that whoever asks why a verdict is as it is must see them.
 * @param watching observers by the plan
 * @param asked those that were polled and do not watch by the plan
 * @param now monotonic ms
 */
export function wordlessIn(
  evidence: readonly ObserverEvidence[],
  watching: readonly Vote[],
  asked: readonly Vote[],
  bookOf: (observer: string) => Heard | undefined,
  now: number,
): WordlessObserver[] {
  const said = new Set(evidence.map((o) => o.observer));
  const of = (votes: readonly Vote[], polled: boolean): WordlessObserver[] =>
    votes
      .filter((v) => !said.has(v.observer))
      .map(({ observer }) => {
        const heard = bookOf(observer);
        if (heard === undefined) return { observer, why: 'never-heard', ...(polled && { polled: true as const }) };
        const reportAgeMs = Math.round(now - heard.spokenAt);
        return polled
          ? { observer, why: 'no-answer', reportAgeMs, polled: true as const }
          : { observer, why: 'no-word', reportAgeMs };
      });
  return [...of(watching, false), ...of(asked, true)];
}

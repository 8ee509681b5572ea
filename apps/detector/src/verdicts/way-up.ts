import type { Tally, TargetFacts } from './quorum.js';

/**
 * What has been so without a break, since when, monotonic ms. A node that loses most of what it sends is heard again and
 * again, for moments: what ends a suspicion, or a silence, must last as long as what began it.
 */
export interface Standing {
  /** Most do not miss it. */
  restful?: number;
  /** Most miss it on every network. */
  suspected?: number;
  /** Not without a break: when there was the last sign of its life. */
  lived?: number;
  /** By network: most of those who speak of it there had their last probe answered. */
  answered: Readonly<Record<string, number>>;
}

/** @param life there is a sign of life now */
export function standingOf(was: Standing | undefined, f: TargetFacts, t: Tally, life: boolean): Standing {
  const lived = life ? f.now : was?.lived;
  const restful = t.suspect ? undefined : (was?.restful ?? f.now);
  const suspected = t.suspect ? (was?.suspected ?? f.now) : undefined;
  return {
    ...(restful !== undefined && { restful }),
    ...(suspected !== undefined && { suspected }),
    ...(lived !== undefined && { lived }),
    answered: Object.fromEntries(t.mostAnswered.map((n) => [n, was?.answered[n] ?? f.now])),
  };
}

const lasts = (since: number | undefined, ms: number, f: TargetFacts): boolean =>
  since !== undefined && f.now - since >= ms;

/**
 * Of a node that was DEGRADED: nobody hears it, for longer than between two datagrams of which few arrive, or most have
 * missed it on every network for twice the silence timeout, which is no chance. A quarter of it is short enough for a
 * death to be told by its rules.
 */
export const isSuspectedForLong = (s: Standing, f: TargetFacts): boolean =>
  s.lived === undefined || lasts(s.lived, f.silenceTimeoutMs / 4, f) || lasts(s.suspected, 2 * f.silenceTimeoutMs, f);

/**
 * Of a node that was DEGRADED: somebody hears it, and most have not missed it for twice the silence timeout yet. Of one
 * that loses four of five datagrams most may miss six in a row at the same moment; of one that is dead nobody hears
 * any.
 */
export const isHeardInMoments = (s: Standing, f: TargetFacts, t: Tally): boolean =>
  t.hears > 0 && !lasts(s.suspected, 2 * f.silenceTimeoutMs, f);

/** Networks on which most have had answers for the silence timeout. */
const isAnswered = (network: string, s: Standing, f: TargetFacts): boolean =>
  lasts(s.answered[network], f.silenceTimeoutMs, f);

/** Of those on which it was silent: where it still counts as silent. */
export const stillSilent = (held: readonly string[], s: Standing, f: TargetFacts): string[] =>
  held.filter((network) => !isAnswered(network, s, f));

/**
 * A suspect that lives is one no more as soon as everybody is answered at once, or most have not missed it for the
 * silence timeout. Then it is heard with gaps on the networks that this returns.
 * @returns undefined: it stays a suspect
 */
export function gapsAfterSuspicion(s: Standing, f: TargetFacts, t: Tally): string[] | undefined {
  if (f.networks.every((network) => t.allAnswered.includes(network) || t.silentNetworks.includes(network))) return [];
  return lasts(s.restful, f.silenceTimeoutMs, f) ? stillSilent(f.networks, s, f) : undefined;
}

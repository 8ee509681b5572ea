/** So many whose reads stay without an answer are asked again in all, a second: fencers that come back are not flooded. */
const TURNS_PER_S = 20;
/** The most that are saved up. */
const MOST_TURNS = TURNS_PER_S;
/** Since the first of its reads, ms: of those it is decided soon. */
const SUSPECT_MS = 60_000;

/** Reads of one node of which none was answered. Monotonic ms. */
export interface Unanswered {
  firstAt: number;
  lastAt: number;
}

/** That were left at that moment, monotonic ms. */
export interface Turns {
  left: number;
  at: number;
}

export const allTurns: Turns = { left: MOST_TURNS, at: 0 };

/**
 * Pure: who of those that are due is asked again now. Suspects come first, then whoever has waited longest, so that none
 * is passed over for ever.
 */
export function takeTurns<T extends Unanswered>(
  due: readonly T[],
  { left, at }: Turns,
  now: number,
): { taken: T[]; turns: Turns } {
  const there = Math.min(MOST_TURNS, left + ((now - at) * TURNS_PER_S) / 1_000);
  const isSuspect = ({ firstAt }: T): boolean => now - firstAt < SUSPECT_MS;
  const inTurn = [...due].sort((a, b) => Number(isSuspect(b)) - Number(isSuspect(a)) || a.lastAt - b.lastAt);
  const taken = inTurn.slice(0, Math.floor(there));
  return { taken, turns: { left: there - taken.length, at: now } };
}

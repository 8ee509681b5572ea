import type { Ages, Conditions } from '../snapshot/ages.js';
import type { Fleet } from '../snapshot/fleet.js';

/**
 * After so long, ms, a new conductor knows of everybody who lives: agents and workers have connected again, a worker of
 * the same name has waited its 6 s, and has tested its drivers.
 */
export const SETTLE_MS = 15_000;

/** Of a term of the conductor. `term`: no view has had a gap in it. `told`: then nobody's word lacked at some time. */
export type SettledCondition = `${'term' | 'told'}/${number}`;

/**
 * What only others tell (who is alive, what runs where) is not known yet to who has just begun to look: that somebody
 * lacks is then no news. It is told of only; what is decided on it fails closed all the same.
 * @param all nobody lacks as of now: then everything is known, however soon
 */
export const hasSettled = (fleet: Fleet, ages: Ages<SettledCondition>, all: () => boolean): boolean =>
  fleet.live && fleet.term !== undefined && (isKnown(fleet.term, ages) || all());

/** What holds as of now of {@link SettledCondition}; after a gap, and in the next term, all is looked at anew. */
export function settling(
  { live, term }: Fleet,
  ages: Ages<SettledCondition>,
  all: () => boolean,
): Conditions<SettledCondition> {
  if (!live || term === undefined) return { holds: [] };
  const told = !isKnown(term, ages) && all();
  return { holds: told ? [`term/${term}`, `told/${term}`] : [`term/${term}`], unknown: [`told/${term}`] };
}

const isKnown = (term: number, ages: Ages<SettledCondition>): boolean =>
  ages.of(`told/${term}`) > 0 || ages.of(`term/${term}`) >= SETTLE_MS;

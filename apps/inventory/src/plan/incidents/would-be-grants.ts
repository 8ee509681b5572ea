import type { StormFacts } from '#domain/incident/storm-counts.js';
import { asksOf, wouldBePermits, type PermitAt } from '#domain/incident/would-be-permits.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { isStopAt } from './incident-changes.js';

/**
 * Pure: permits that would have been given, had the mode been `enforce`, by the incidents that are on record: of each node
 * the last one. They serve to show what would be done; what is done counts those that were given.
 */
export function wouldBeGrants(
  { incidents, wallMs }: Pick<Fleet, 'incidents' | 'wallMs'>,
  storm: Pick<StormFacts, 'grants' | 'members' | 'limits'>,
): PermitAt[] {
  const asks = incidents.list.flatMap(({ value: { id: incident, node, steps } }) => {
    const observed = steps.map((s) => ({ at: s.at, isObserved: isStopAt(s, 'OBSERVE') }));
    return asksOf({ incident, node }, observed, wallMs);
  });
  const given = storm.grants.map(({ incident, node, ageMs }) => ({ incident, node, at: wallMs - ageMs }));
  return wouldBePermits(asks, given, storm).granted;
}

/**
 * What the gates of storms look at, with those permits. Who would have got one has it still, however many others have.
 */
export function withWouldBe(
  storm: StormFacts,
  incident: string,
  granted: readonly PermitAt[],
  wallMs: number,
): StormFacts {
  if (granted.some((g) => g.incident === incident)) return storm;
  const grants = granted.map(({ at, ...who }) => ({ ...who, ageMs: Math.max(0, wallMs - at) }));
  return { ...storm, grants: [...storm.grants, ...grants] };
}

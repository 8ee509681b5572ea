import { AGES_EVERY_MS, PERMITS_KEY, type Permits } from '#contracts';
import { keepPermits } from '#domain/incident/permits.js';
import { stormId } from '#domain/incident/storm.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import type { KeepPermits } from '../intent.js';
import { checkpointIn, isCalm, isStormKnown, permitsFacts, stormSight, stormsSeen } from './storm-facts.js';

/** Trips storms whether or not an incident asks for a permit, ends those that are over, and writes down how old all is. */
export const storms: Concern = {
  seesStorms: stormsSeen,
  plan: (fleet) => [...stormSight(fleet).failed, ...due(fleet)],
};

function due(fleet: Fleet): KeepPermits[] {
  if (isCheckpointDue(fleet)) return [keep('How old permits, incidents and storms are is to be written down.', true)];
  if (isCalm(fleet)) return [];
  const ids = idsOf('planned');
  if (kept(fleet.permits.get(PERMITS_KEY)?.value, fleet, { ids, checkpoints: false }) === undefined) return [];
  return [keep('A storm begins, changes or is over, or a permit is not kept any longer.', false)];
}

/** It is due also where there is nothing to write: then it is looked for again after as long. Through a gap nothing is. */
const isCheckpointDue = (fleet: Fleet): boolean =>
  fleet.term !== undefined && isStormKnown(fleet) && fleet.storms.sinceCheckpoint(fleet.term) >= AGES_EVERY_MS;

const keep = (reason: string, checkpoints: boolean): KeepPermits => ({
  ...{ do: 'keep-permits', about: { permits: PERMITS_KEY }, reason, checkpoints },
  decide: (now, at) => kept(now, at.fleet, { ids: idsOf(at.uuid), checkpoints }),
});

/** Undefined: nothing is to be written, or not all of it is known. */
function kept(
  now: Permits | undefined,
  fleet: Fleet,
  { ids, checkpoints }: { ids: () => string; checkpoints: boolean },
): Permits | undefined {
  const facts = permitsFacts(fleet, fleet.storms, ids);
  if (facts === undefined) return undefined;
  return keepPermits(now, checkpoints ? { ...facts, checkpoint: checkpointIn(fleet, fleet.storms) } : facts);
}

/** Several storms may begin at once: each has an id of its own, and the same in each try. */
function idsOf(uuid: string): () => string {
  const first = stormId(uuid);
  let made = 0;
  return () => (++made === 1 ? first : `${first}-${made}`);
}

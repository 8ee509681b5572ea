import { conductorFloor, detectorFloor, fencerFloor } from '#contracts';
import { behindAlarms } from '../conductor/token-guard.js';
import type { Fleet } from '../snapshot/fleet.js';
import { alarmIntents } from './alarm-intents.js';
import type { Concern } from './concern.js';

/** Says where a holder's token is below what records hold. */
export const tokenGuard: Concern = {
  isKnown: ({ nodes, incidents, jobs }) => nodes.live && incidents.live && jobs.live,
  plan: (fleet) => alarmIntents(fleet, ['token-behind'], behindAlarms(holdersIn(fleet), floorsIn(fleet))),
};

const holdersIn = ({ leases }: Fleet): { name: string; holder?: string; token: number }[] =>
  leases.list.map(({ key: name, value: { holder, token } }) => ({ name, token, ...(holder !== '' && { holder }) }));

/** Lease → the highest token in the records that it guards. */
function floorsIn({ nodes, incidents, jobs }: Fleet): Record<string, number> {
  const all = incidents.list.map((e) => e.value);
  return {
    conductor: conductorFloor(
      all,
      jobs.list.map((e) => e.value),
    ),
    fencer: fencerFloor(all),
    detector: detectorFloor(nodes.list.map((e) => e.value)),
  };
}

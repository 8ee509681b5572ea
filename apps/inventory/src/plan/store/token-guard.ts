import { conductorFloor, detectorFloor, fencerFloor, type LeaseView } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';

/** Says where a holder's token is below what records hold. */
export const tokenGuard: Concern = {
  isKnown: ({ nodes, incidents, jobs }) => nodes.live && incidents.live && jobs.live,
  plan: (fleet) => alarmIntents(fleet, ['token-behind'], behindAlarms(holdersIn(fleet), floorsIn(fleet))),
};

type Holder = Pick<LeaseView, 'name' | 'holder' | 'token'>;

const holdersIn = ({ leases }: Fleet): Holder[] =>
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

/** Where a holder's token is below one in the records that it guards: each of its writes is refused as an older one's. */
export function behindAlarms(leases: readonly Holder[], floors: Readonly<Record<string, number>>): WantedAlarm[] {
  return leases.flatMap((l): WantedAlarm[] => {
    const floor = Object.hasOwn(floors, l.name) ? (floors[l.name] ?? 0) : 0;
    if (l.holder === undefined || l.token >= floor) return [];
    return [
      {
        code: 'token-behind',
        subject: l.name,
        severity: 'critical',
        message:
          `${l.holder} holds the lease ${l.name} with token ${l.token}, and records hold ${floor}: what it writes is refused. ` +
          'It takes the lease anew by itself; where this stands for longer than 10 s, restart it.',
      },
    ];
  });
}

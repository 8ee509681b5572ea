import { conductorFloor, detectorFloor, fencerFloor, type AlarmRecord, type LeaseView } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';

/**
 * Says where a holder's token is below what records hold. A record of a lease shows the token as it was known before the
 * write, whose own revision may have raised it; the first renewal shows the raised one. So one is told of only where it has
 * stood for a time to live: by then whoever holds the lease has renewed it.
 */
export const tokenGuard: Concern<BehindCondition> = {
  isKnown: ({ nodes, incidents, jobs }) => nodes.live && incidents.live && jobs.live,
  conditions: (fleet) => ({ holds: behindIn(fleet).map(keyOf) }),
  plan: (fleet, ages) => {
    const behind = behindIn(fleet);
    const lasting = behind.filter((l) => ages.of(keyOf(l)) >= l.ttlMs);
    // What another conductor has told of goes on while it holds, however short it was seen here.
    const isOver = ({ subject }: AlarmRecord): boolean => behind.every((l) => l.name !== subject);
    return alarmIntents(fleet, ['token-behind'], behindAlarms(lasting, floorsIn(fleet)), isOver);
  },
};

type Holder = Pick<LeaseView, 'name' | 'holder' | 'token'>;

/** Lease, the token that it shows, and its holder. */
type BehindCondition = `${string}/${number}/${string}`;
const keyOf = ({ name, token, holder }: Holder): BehindCondition => `${name}/${token}/${holder ?? ''}`;

const holdersIn = ({ leases }: Fleet): (Holder & { ttlMs: number })[] =>
  leases.list.map(({ key: name, value: { holder, token, ttlMs } }) => ({
    ...{ name, token, ttlMs },
    ...(holder !== '' && { holder }),
  }));

const behindIn = perFleet((fleet) => {
  const floors = floorsIn(fleet);
  return holdersIn(fleet).filter((l) => isBehind(l, floors));
});

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

const floorOf = (name: string, floors: Readonly<Record<string, number>>): number =>
  Object.hasOwn(floors, name) ? (floors[name] ?? 0) : 0;

const isBehind = (l: Holder, floors: Readonly<Record<string, number>>): boolean =>
  l.holder !== undefined && l.token < floorOf(l.name, floors);

/** Where a holder's token is below one in the records that it guards: each of its writes is refused as an older one's. */
export function behindAlarms(leases: readonly Holder[], floors: Readonly<Record<string, number>>): WantedAlarm[] {
  return leases
    .filter((l) => isBehind(l, floors))
    .map((l) => ({
      code: 'token-behind',
      subject: l.name,
      severity: 'critical',
      message:
        `${l.holder} holds the lease ${l.name} with token ${l.token}, and records hold ${floorOf(l.name, floors)}: what it writes is refused. ` +
        'It takes the lease anew by itself; where this stands for longer than 10 s, restart it.',
    }));
}

import { conductorFloor, detectorFloor, fencerFloor, type AlarmRecord, type LeaseView } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { aboutJob, aboutNode, decideTogether } from '../each-record.js';
import type { FailRecord } from '../intent.js';

/**
 * Says where a holder's token is below what records hold. A record of a lease shows the token as it was known before the
 * write, whose own revision may have raised it; the first renewal shows the raised one. So one is told of only where it has
 * stood for a time to live: by then whoever holds the lease has renewed it.
 */
export const tokenGuard: Concern<BehindCondition> = {
  isKnown: ({ nodes, incidents, jobs }) => nodes.live && incidents.live && jobs.live,
  conditions: (fleet) => ({ holds: behindIn(fleet).behind.map(keyOf) }),
  plan: (fleet, ages) => {
    const { behind, floors, failed } = behindIn(fleet);
    const lasting = behind.filter((l) => ages.of(keyOf(l)) >= l.ttlMs);
    // What another conductor has told of goes on while it holds, however short it was seen here; and a record that could
    // not be judged may hold the highest.
    const isOver = ({ subject }: AlarmRecord): boolean =>
      failed.length === 0 && behind.every((l) => l.name !== subject);
    return [...failed, ...alarmIntents(fleet, ['token-behind'], behindAlarms(lasting, floors), isOver)];
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
  const { made: floors, failed } = floorsIn(fleet);
  return { behind: holdersIn(fleet).filter((l) => isBehind(l, floors)), floors, failed };
});

/** Lease → the highest token in the records that it guards. */
function floorsIn(fleet: Fleet): { made: Record<string, number>; failed: FailRecord[] } {
  const incidents = decideTogether(fleet.incidents.list, aboutNode, (some) => {
    const all = some.map((e) => e.value);
    return { conductor: conductorFloor(all, []), fencer: fencerFloor(all) };
  });
  const jobs = decideTogether(fleet.jobs.list, aboutJob, (some) =>
    conductorFloor(
      [],
      some.map((e) => e.value),
    ),
  );
  const nodes = decideTogether(fleet.nodes.list, aboutNode, (some) => detectorFloor(some.map((e) => e.value)));
  const { conductor, fencer } = incidents.made;
  return {
    made: { conductor: Math.max(conductor, jobs.made), fencer, detector: nodes.made },
    failed: [...incidents.failed, ...jobs.failed, ...nodes.failed],
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

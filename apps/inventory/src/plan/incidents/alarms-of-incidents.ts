import type { Entry } from '#bus';
import type { AlarmRecord, IncidentRecord } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import { runningIn } from '../alarms/dead-work.js';
import type { Concern } from '../concern.js';
import { aboutNode, eachMade, eachRecord, isDecided, type Decided } from '../each-record.js';
import {
  alarmsOf,
  alarmsOfStorms,
  eachOnce,
  FENCING_STUCK_MS,
  incidentAlarmCodes,
  type IncidentAlarmFacts,
} from './incident-alarms.js';
import { unreadIncidents } from './incident-facts.js';
import { isStormKnown, stormViews } from './storm-facts.js';

/** An order to fence that is not carried out yet; each attempt is one of its own. */
type Order = `${string}/${number}`;

/** Keeps the alarms that stand for incidents and storms equal to what they call for. */
export const alarmsOfIncidents: Concern<Order> = {
  conditions: (fleet) => {
    const { made, failed } = eachMade(readable(fleet), aboutNode, ({ value: i }) =>
      i.phase === 'fencing' ? [orderOf(i)] : [],
    );
    return { holds: made, failed };
  },
  plan: (fleet, ages) => {
    const { made, failed } = wantedIn(fleet, ages);
    const unread = unreadIncidents(fleet);
    // Who could not be judged may be why all are braked, and so may a storm that cannot be read.
    const isFleetKnown = failed.length === 0 && unread.size === 0 && isStormKnown(fleet);
    const isOver = (a: AlarmRecord): boolean =>
      isDecided(failed)(a) &&
      !unread.has(a.subject) &&
      (isFleetKnown || (a.code !== 'brake' && a.code !== 'domain-down'));
    return [...failed, ...alarmIntents(fleet, incidentAlarmCodes, made, isOver)];
  },
};

function wantedIn(fleet: Fleet, ages: Ages<Order>): Decided<WantedAlarm> {
  const facts: IncidentAlarmFacts = {
    nodeOf: (node) => fleet.nodes.get(node)?.value,
    isStuck: (i) => ages.of(orderOf(i)) > FENCING_STUCK_MS,
    workOn: (node) => runningIn(fleet).made.get(node) ?? [],
  };
  const { made, failed } = eachMade(readable(fleet), aboutNode, ({ value }) => alarmsOf(value, facts));
  return { made: eachOnce([...alarmsOfStorms(stormViews(fleet, fleet.storms)), ...made]), failed };
}

/** Oldest first, so that the words of a fleet-wide alarm do not change with each round. */
const readable = perFleet(({ incidents }): Decided<Entry<IncidentRecord>> => {
  const { made, failed } = eachRecord(incidents.list, aboutNode, (entry) => {
    const { openedAt, unreadable } = entry.value;
    return unreadable === undefined ? [{ entry, openedAt: Number(openedAt) }] : [];
  });
  const sorted = made.toSorted((a, b) => a.openedAt - b.openedAt || a.entry.key.localeCompare(b.entry.key));
  return { made: sorted.map((x) => x.entry), failed };
});

const orderOf = (i: IncidentRecord): Order => `${i.id}/${i.attempt}`;

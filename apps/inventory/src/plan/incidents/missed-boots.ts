import type { AlarmRecord, IncidentRecord } from '#contracts';
import { bootMissed } from '#domain/power/boot-grace.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { alarmIntents, isTold } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { aboutNode, eachRecord, isDecided, type Decided } from '../each-record.js';
import { unreadIncidents } from './incident-facts.js';
import { leftOff } from './incident-alarms.js';

/**
 * Keeps the alarms about nodes that Muster has powered on, and that are not heard in a new boot within their boot grace. Time
 * in which the monitor did not see the fleet does not count: it could not have heard them.
 */
export const missedBoots: Concern<string> = {
  clock: 'sighted',
  conditions: (fleet) => {
    const { made, failed } = missedIn(fleet);
    return { holds: made.map((m) => m.boot), failed };
  },
  plan: (fleet, ages) => {
    const { made, failed } = missedIn(fleet);
    // One that stands has waited for its grace, if in another process: a takeover must not end it.
    const isOverdue = ({ boot, node }: MissedBoot): boolean =>
      isTold(fleet, 'boot-timeout', node) || ages.of(boot) >= fleet.settings.leaveGrace;
    const wanted = made.filter((m) => !m.isLeftOff && isOverdue(m)).map(({ node }) => alarmOf(node));
    const isOver = (a: AlarmRecord): boolean => isDecided(failed)(a) && !unreadIncidents(fleet).has(a.subject);
    return [...failed, ...alarmIntents(fleet, ['boot-timeout'], wanted, isOver)];
  },
};

interface MissedBoot {
  /** The command, for a clock of the asker's own. */
  readonly boot: string;
  readonly node: string;
  /** That it stays off is said already. */
  readonly isLeftOff: boolean;
}

const missedIn = ({ incidents, nodes }: Fleet): Decided<MissedBoot> =>
  eachRecord(incidents.list, aboutNode, ({ value: i }) => missed(i, nodes.get(i.node)?.value));

function missed(i: IncidentRecord, node: Parameters<typeof bootMissed>[1]): MissedBoot[] {
  const boot = i.unreadable === undefined ? bootMissed(i, node) : undefined;
  return boot === undefined ? [] : [{ boot, node: i.node, isLeftOff: leftOff(i, node) !== undefined }];
}

const alarmOf = (node: string): WantedAlarm => ({
  code: 'boot-timeout',
  subject: node,
  severity: 'warning',
  message: 'Muster powered it on, and it was not heard in a new boot within its boot grace: look at its console.',
});

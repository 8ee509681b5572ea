import { isOpenIncident, type AlarmRecord, type IncidentRecord } from '#contracts';
import { isWantedAlive } from '#domain/incident/verdict-effect.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { alarmIntents, isTold } from '../alarms/alarm-intents.js';
import { runningIn, runsNowhere } from '../alarms/dead-work.js';
import type { Concern } from '../concern.js';
import { eachMade, isDecided, type Decided } from '../each-record.js';
import { ageIn, isIdentityUnanswered, unreadIncidents, type IncidentCondition } from './incident-facts.js';
import { IDENTITY_UNANSWERED } from './incident-step.js';
import { eachOpen } from './open-incidents.js';
import { awaitedBoots, openings, type Opening } from './openings.js';

/**
 * A death that is neither decided on nor stopped by then, ms, waits for something that does not come: the first look takes
 * 4 s at most (the reads of the power devices, and the detector), and a conductor's takeover begins it anew.
 */
export const FENCING_WAITS_MS = 15_000;

type WaitCondition = IncidentCondition | `waits/${string}`;

/**
 * Keeps the alarms about nodes that are dead, or ordered off by hand, and do not get to their fencing. An incident that is stopped,
 * ordered off or failed has alarms of its own; these here are of those that have none yet, or are being investigated. Time
 * in which the detector did not see the fleet does not count.
 */
export const fencingWaits: Concern<WaitCondition> = {
  clock: 'sighted',
  // Without a detector nobody is called dead, and what was stays so.
  isKnown: ({ detector, nodes, incidents }) => detector.fresh && nodes.live && incidents.live,
  conditions: (fleet, ages) => {
    const boots = awaitedBoots(fleet);
    const { made, failed } = waitingIn(fleet, ages);
    return { holds: [...boots.made, ...made.map(conditionOf)], failed: [...boots.failed, ...failed] };
  },
  plan: (fleet, ages) => {
    const { made, failed } = waitingIn(fleet, ages);
    // One that stands has waited for its time, if in another process: a takeover must not end it.
    const isLate = (w: Waiting): boolean =>
      isTold(fleet, 'fencing-waits', w.node) || ages.of(conditionOf(w)) >= FENCING_WAITS_MS;
    const isOver = (a: AlarmRecord): boolean => isDecided(failed)(a) && !unreadIncidents(fleet).has(a.subject);
    const wanted = made.filter(isLate).map((w) => alarmOf(w, fleet));
    return [...failed, ...alarmIntents(fleet, ['fencing-waits'], wanted, isOver)];
  },
};

interface Waiting {
  node: string;
  /** What it waits for. */
  why: string;
  /** It does not count as DOWN: a person wants it off. */
  isByHand: boolean;
}

const conditionOf = ({ node }: Waiting): WaitCondition => `waits/${node}`;

/** In mode observe nothing is fenced, and no work waits for that. */
function waitingIn(fleet: Fleet, ages: Ages<WaitCondition>): Decided<Waiting> {
  if (fleet.settings.fencing.mode === 'observe') return { made: [], failed: [] };
  const dead = openings(fleet, ageIn(ages));
  const ofDead = eachMade(
    dead,
    ({ node }) => ({ node: node.name }),
    (o): Waiting[] => {
      const why = whyWaits(o, fleet);
      return why === undefined ? [] : [{ node: o.node.name, why, isByHand: false }];
    },
  );
  const names = new Set(dead.made.map((o) => o.node.name));
  const byHand = eachOpen(fleet, (i): Waiting[] => {
    const why = isWantedAlive(i) && !names.has(i.node) ? whyIncidentWaits(i, fleet) : undefined;
    return why === undefined ? [] : [{ node: i.node, why, isByHand: true }];
  });
  return { made: [...ofDead.made, ...byHand.made], failed: [...ofDead.failed, ...byHand.failed] };
}

/** Undefined: it does not wait, or other alarms say why. Words that change from look to look would be told again each time. */
function whyWaits({ step, last }: Opening, fleet: Fleet): string | undefined {
  if (step === 'open' || step === 'identity')
    return 'No incident is opened, as the detector does not confirm the death when it is asked, or cannot be asked.';
  if (step !== 'none' || last === undefined || !isOpenIncident(last) || last.unreadable !== undefined) return undefined;
  return whyIncidentWaits(last, fleet);
}

/** The same of an open one that can be read. */
function whyIncidentWaits(last: IncidentRecord, fleet: Fleet): string | undefined {
  if (last.phase !== 'open' && last.phase !== 'investigating') return undefined;
  if (isIdentityUnanswered(fleet, last.node)) return IDENTITY_UNANSWERED;
  return `Its incident is ${last.phase}, and nothing is decided about it.`;
}

/** The work of one that was ordered off by hand may run there still. */
const alarmOf = ({ node, why, isByHand }: Waiting, fleet: Fleet): WantedAlarm => ({
  code: 'fencing-waits',
  subject: node,
  severity: isByHand ? 'warning' : 'critical',
  message: isByHand
    ? `It was ordered off by hand, and its fencing has not begun. ${why}`
    : `It is DOWN, and its fencing has not begun. ${why}${runsNowhere(runningIn(fleet).made.get(node) ?? [])}`,
});

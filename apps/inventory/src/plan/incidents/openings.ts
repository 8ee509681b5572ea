import type { ClusterSettings, IncidentRecord, NodeRecord, Verdict } from '#contracts';
import { askGates } from '#domain/incident/gates.js';
import { go } from '#domain/incident/steps.js';
import { bootAwaited, isOrderedOn } from '#domain/power/boot-grace.js';
import { isNewer } from '#domain/verdict/newer.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Investigation } from '../../snapshot/investigation.js';
import { eachMade, type Decided } from '../each-record.js';
import type { ChangeIncident, OpenIncident } from '../intent.js';
import { conducted } from '../conducted.js';
import {
  degradedToDeath,
  eachIncident,
  hasWorkloads,
  silentMembers,
  verdictHeard,
  type IncidentAge,
  type IncidentCondition,
} from './incident-facts.js';
import { openingStep, type OpeningStep } from './incident-step.js';
import { newIncident } from './new-incident.js';
import { investigatedIntents } from './open-incidents.js';
import { isCancelledByOperator } from './operator-cancel.js';

/** A node that is DOWN as of now, or counts as DOWN, and what is to be done about it. */
export interface Opening {
  node: NodeRecord;
  step: OpeningStep;
  /** The incident that it has, or had. */
  last: IncidentRecord | undefined;
  /** It counts as DOWN by the policy for nodes that stay DEGRADED; gate LIFE_SIGN holds it while anybody hears it. */
  degraded: boolean;
}

export function openings(fleet: Fleet, age: IncidentAge): Decided<Opening> {
  const { made: silent, failed } = silentMembers(fleet);
  const dead = silent.filter((n) => verdictHeard(fleet, n) === 'DOWN').map((node) => ({ node, degraded: false }));
  const degraded = degradedToDeath(fleet).map((node) => ({ node, degraded: true }));
  return eachMade(
    { made: [...dead, ...degraded], failed },
    ({ node }) => ({ node: node.name }),
    (o) => [opening(o.node, o.degraded, fleet, age)],
  );
}

export function opening(node: NodeRecord, degraded: boolean, fleet: Fleet, age: IncidentAge): Opening {
  const last = fleet.incidents.get(node.name)?.value;
  const step = openingStep(node, last, {
    hasWorkloads: hasWorkloads(fleet, node.name),
    isLeftAlone: last !== undefined && isLeftAlone(last, { node, settings: fleet.settings }, age),
    isIdentityPending: fleet.identity.get(node.name) === 'pending',
  });
  // One that is treated as DOWN is heard: it has no next death.
  return { node, step: degraded && step === 'close' ? 'none' : step, last, degraded };
}

/** No incident takes the place of this one, which is over, by itself. */
const isLeftAlone = (over: IncidentRecord, at: BootView, age: IncidentAge): boolean =>
  isCancelledByOperator(over) || isSwitchedOn(over, at, age);

interface BootView {
  node: NodeRecord | undefined;
  settings: Pick<ClusterSettings, 'leaveGrace'>;
}

/**
 * It is being switched on by an order, or was by Muster less than the grace of a reboot ago: its silence opens no
 * incident meanwhile. The grace is counted on this process's own clock, from when it first saw the command, so each conductor begins anew.
 */
function isSwitchedOn(i: IncidentRecord, { node, settings }: BootView, age: IncidentAge): boolean {
  if (isOrderedOn(i)) return true;
  const boot = bootAwaited(i, node);
  return boot !== undefined && age(`boot/${boot}`) < settings.leaveGrace;
}

/** Boots that are awaited, whose ages decide that. */
export const awaitedBoots = (fleet: Fleet): Decided<IncidentCondition> =>
  eachIncident(fleet, (i): IncidentCondition[] => {
    const boot = bootAwaited(i, fleet.nodes.get(i.node)?.value);
    return boot === undefined ? [] : [`boot/${boot}`];
  });

/** The verdict as of now bears it out, and is none of a detector that was replaced. */
export const bearsOut = (
  v: Verdict | undefined,
  { node, degraded }: Pick<Opening, 'node' | 'degraded'>,
): v is Verdict =>
  v?.verdict === (degraded ? 'DEGRADED' : 'DOWN') && (node.verdict === undefined || !isNewer(node.verdict, v));

/** Fenced, powered on again, and dead again before it was in service: that is a new death. */
export const closeForNext = ({ node, id }: IncidentRecord): ChangeIncident => ({
  ...{ do: 'change-incident', key: node, id, about: { node } },
  reason: 'It booted after its recovery, and is down again.',
  decide: (now, by) =>
    now.phase === 'recovered'
      ? conducted(
          now,
          by,
          go(now, 'closed', 'It booted and went down again before it was in service.', by.fleet.wallMs),
        )
      : undefined,
});

/**
 * It is written first, and goes on from there by what was found out for it. A crash in between leaves an incident under
 * investigation: it is open, and looked at like any other.
 */
export function openIncident(o: Opening, x: Investigation, fleet: Fleet, age: IncidentAge): OpenIncident[] {
  const { node, degraded } = o;
  const { verdict } = x.gates;
  if (o.step !== 'open' || !bearsOut(verdict, o)) return [];
  const reason = degraded ? `${verdict.reason} By policy that counts as DOWN.` : verdict.reason;
  return [
    {
      ...{ do: 'open-incident', key: node.name, about: { node: node.name }, reason },
      make: ({ uuid, token, fleet: { wallMs } }) =>
        newIncident({
          ...{ id: uuid, node, cause: 'auto', reason, verdict, story: x.story },
          ...(degraded && { degraded }),
          ...{ gates: askGates(x.gates), conductor: token, at: wallMs },
        }),
      keeps: (over, at) =>
        isLeftAlone(over, { node: at.fleet.nodes.get(node.name)?.value, settings: at.fleet.settings }, age),
      followedBy: (opened) => investigatedIntents(opened, node, x, fleet, age),
    },
  ];
}

import { GateCodes, isOpenIncident, type GateResult, type IncidentRecord, type NodeRecord } from '#contracts';
import { decideIncident } from '#domain/incident/decide-incident.js';
import type { PermitDecision } from '#domain/incident/permits.js';
import { isAfterOff, mayCancel, wasCommanded } from '#domain/incident/phases.js';
import { retryBackoff } from '#domain/incident/retry.js';
import { isWantedAlive } from '#domain/incident/verdict-effect.js';
import { mayPower } from '#domain/power/may-power.js';
import { offMark, quarantineLeftMs } from '#domain/power/quarantine.js';
import { areOtherDevices } from '#domain/power/ordered-devices.js';
import { heldForCollateral } from '../../power/collateral.js';
import { contradictedBy } from '../../power/void-proof.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Investigation } from '../../snapshot/investigation.js';
import { allIntents, type Decided } from '../each-record.js';
import type { ChangeIncident, Intent, TakePermit } from '../intent.js';
import { drillPermit } from './drill-permit.js';
import { changeAsSeen, ended, isStoppedSo, sentToFencing, suppressed, survived } from './incident-changes.js';
import {
  eachIncident,
  hasWorkloads,
  incidentsOf,
  isIdentityUnanswered,
  isPermitted,
  verdictHeard,
} from './incident-facts.js';
import type { IncidentAge, IncidentCondition } from './incident-facts.js';
import { incidentStep, needsIdentity, stoppedStep, type DecidedStep, type IncidentStep } from './incident-step.js';
import { isCancelledByOperator, operatorCancelOver } from './operator-cancel.js';
import { withheld } from './withheld.js';

/** What the records alone say of an open incident. */
export type IncidentAssessment =
  /** Proven off: its recovery goes on from there. Or nobody knows whether its node is still there, or what its record says. */
  | { do: 'nothing' }
  /** Its node was deleted. */
  | { do: 'end'; reason: string }
  /** Its node is not to be powered on any more. */
  | { do: 'withhold'; detail: string }
  /** Its power devices are being asked whether they are its own. */
  | { do: 'await-identity' }
  /** It is judged by what is found out about its node. */
  | { do: 'investigate'; node: NodeRecord };

/** Decides on each that can be read and is open, by itself. */
export const eachOpen = <T>(fleet: Fleet, decide: (i: IncidentRecord) => readonly T[]): Decided<T> =>
  eachIncident(fleet, (i) => (isOpenIncident(i) && i.unreadable === undefined ? decide(i) : []));

/** Those that wait for their power devices to say whose they are. */
export const isIdentityWanted = (i: IncidentRecord): boolean => !isAfterOff(i) && needsIdentity(i);

const isDeleted = ({ node }: IncidentRecord, { nodes }: Fleet): boolean => nodes.live && !nodes.has(node);

export function assess(i: IncidentRecord, fleet: Fleet): IncidentAssessment {
  const node = fleet.nodes.get(i.node)?.value;
  if (i.phase === 'recovered') return assessPowerOn(i, node, fleet);
  if (isAfterOff(i)) return { do: 'nothing' };
  if (node === undefined)
    return isDeleted(i, fleet) ? { do: 'end', reason: 'The node was deleted.' } : { do: 'nothing' };
  if (isIdentityWanted(i) && fleet.identity.get(i.node) === 'pending') return { do: 'await-identity' };
  return { do: 'investigate', node };
}

/** A pause, mode observe or a cordon that came after the power-on was asked for. */
function assessPowerOn(i: IncidentRecord, node: NodeRecord | undefined, fleet: Fleet): IncidentAssessment {
  if (i.powerOn?.wanted !== true || i.powerOn.done === true || !fleet.knowsSettings) return { do: 'nothing' };
  const permission = mayPower('system', fleet.settings.fencing, node ?? {}, fleet.wallMs);
  return permission.may ? { do: 'nothing' } : { do: 'withhold', detail: permission.detail };
}

/** What is done about it without anything being found out. */
export function assessmentIntents(i: IncidentRecord, assessment: IncidentAssessment): Intent[] {
  if (assessment.do === 'end' && mayCancel(i)) return [endDeleted(i, assessment.reason)];
  if (assessment.do === 'withhold')
    return [changeAsSeen(i, assessment.detail, (now, at) => withheld(now, assessment.detail, at))];
  return [];
}

/** Where its record cannot be read it is there. */
function endDeleted(i: IncidentRecord, reason: string): ChangeIncident {
  const end = changeAsSeen(i, reason, ended(reason));
  return {
    ...end,
    reads: { nodes: [i.node] },
    decide: (now, at) => (isDeleted(now, at.fleet) ? end.decide(now, at) : undefined),
  };
}

/** An operator's cancel that is over: heard again, or in another boot, its next death is another one. */
export const operatorCancelIntents = (fleet: Fleet): Intent[] =>
  allIntents(
    eachIncident(fleet, (i): Intent[] => {
      if (!isCancelledByOperator(i)) return [];
      const node = fleet.nodes.get(i.node)?.value;
      const over = (now: IncidentRecord): IncidentRecord | undefined =>
        operatorCancelOver(now, node && verdictHeard(fleet, node), node?.bootId);
      return over(i) === undefined ? [] : [changeAsSeen(i, 'It was heard since an operator cancelled it.', over)];
    }),
  );

/** What becomes of it, but for its permit. */
function investigated(
  i: IncidentRecord,
  node: NodeRecord,
  { gates }: Pick<Investigation, 'gates'>,
  fleet: Fleet,
  age: IncidentAge,
): IncidentStep {
  return incidentStep(i, decideIncident(i, gates, isPermitted(fleet, i.id)), {
    node,
    hasWorkloads: hasWorkloads(fleet, node.name),
    quarantineLeftMs: () => quarantineLeftMs(i, { see: (off) => age(`outlived/${off}`) }),
    stoppedForMs: ({ gate }) => age(`stopped/${i.id}/${i.gate ?? gate}`),
    isContradicted: () => contradictedBy(i, node) !== undefined,
    collateral: () => heldForCollateral(i, node, incidentsOf(fleet)),
    retryInMs: () => retryInMs(i, node, age),
    isIdentityUnanswered: () => isIdentityUnanswered(fleet, node.name),
    unidentifiedForMs: () => age(unidentified(i)),
  });
}

/** Whose ages its step goes by. */
export function agesAskedFor(
  i: IncidentRecord,
  node: NodeRecord,
  x: Pick<Investigation, 'gates'>,
  fleet: Fleet,
): IncidentCondition[] {
  const asked: IncidentCondition[] = [];
  investigated(i, node, x, fleet, (condition) => {
    asked.push(condition);
    return 0;
  });
  return asked;
}

/** Those that it may go by later, whatever is found out then. */
export const agesOf = (i: IncidentRecord, fleet: Fleet): IncidentCondition[] => [
  `outlived/${offMark(i)}`,
  `failed/${i.id}/${i.attempt}`,
  ...(isWantedAlive(i) ? GateCodes.map((gate): IncidentCondition => `stopped/${i.id}/${gate}`) : []),
  // Once a fencer has answered that wait is over; one that is still being asked has not.
  ...(isIdentityUnanswered(fleet, i.node) ? [unidentified(i)] : []),
];

/** Who releases it wants it anew: that word has a time of its own. */
const unidentified = (i: IncidentRecord): IncidentCondition => `unidentified/${i.id}/${i.released?.at ?? ''}`;

/** The backoff is measured on this process's clock. With other devices than those that failed it is over. */
function retryInMs(i: IncidentRecord, node: NodeRecord, age: IncidentAge): number {
  if (areOtherDevices(i, node.powerLevels)) return 0;
  return Math.max(0, retryBackoff(i) - age(`failed/${i.id}/${i.attempt}`));
}

/** The same with the permit that it would get. @param permit of those that stand, decided and not written */
export function foreseen(
  i: IncidentRecord,
  node: NodeRecord,
  x: Pick<Investigation, 'gates'>,
  o: { fleet: Fleet; age: IncidentAge; permit: () => PermitDecision },
): IncidentStep {
  const step = investigated(i, node, x, o.fleet, o.age);
  if (step.do !== 'ask-permit') return step;
  const permit = isDrill(i) ? drillPermit(x.gates.storm, i) : o.permit();
  return permit.granted ? step : stoppedStep(i, permit.gate, withResults(step.gates, permit.results));
}

/** What is done about it now that its node was investigated. */
export function investigatedIntents(
  i: IncidentRecord,
  node: NodeRecord,
  x: Investigation,
  fleet: Fleet,
  age: IncidentAge,
): Intent[] {
  const step = investigated(i, node, x, fleet, age);
  if (step.do !== 'ask-permit') return stepIntents(i, step, x);
  const decided = (permit: PermitDecision): Intent[] => {
    const gates = withResults(step.gates, permit.results);
    if (!permit.granted) return stepIntents(i, stoppedStep(i, permit.gate, gates), x);
    return [changeAsSeen(i, 'All gates pass, and it has its permit.', sentToFencing(i, node, x, gates))];
  };
  return isDrill(i) ? decided(drillPermit(x.gates.storm, i)) : [takePermit(i, node, decided)];
}

/**
 * First the permit is written, then the incident: of two that each think they are the last under the limit, the second
 * finds the first one's permit. A crash in between leaves a permit of an incident that was not ordered off; it has it
 * still when it is looked at again, and loses it with its end.
 */
const takePermit = (i: IncidentRecord, node: NodeRecord, decided: (d: PermitDecision) => Intent[]): TakePermit => ({
  ...{ do: 'take-permit', key: i.id, about: { node: i.node } },
  reason: 'All gates pass.',
  incident: i,
  node,
  followedBy: decided,
});

function stepIntents(i: IncidentRecord, step: DecidedStep, { gates: { verdict } }: Investigation): Intent[] {
  switch (step.do) {
    case 'end':
      return [changeAsSeen(i, step.reason, ended(step.reason))];
    case 'survive':
      return [changeAsSeen(i, step.reason, survived(step.reason))];
    case 'suppress':
      return isStoppedSo(i, step, verdict)
        ? []
        : [changeAsSeen(i, `Gate ${step.gate.gate} stops it.`, suppressed(step, verdict))];
    case 'wait':
      return [];
  }
}

const isDrill = (i: IncidentRecord): boolean => i.drill !== undefined && !wasCommanded(i);

const withResults = (gates: GateResult[], of: readonly GateResult[]): GateResult[] =>
  gates.map((g) => of.find((r) => r.gate === g.gate) ?? g);

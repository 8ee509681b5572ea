import type { IncidentRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isHeld, type CollateralStep } from '../../power/collateral.js';
import { isVoid } from '../../power/contradiction.js';
import type { Ages } from '../../snapshot/ages.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { intentsOfEach } from '../each-record.js';
import type { ChangeIncident, Intent } from '../intent.js';
import { contradicted, proven, provenCondition, type ProvenCondition } from '../power/contradicted.js';
import { barred } from '../workloads/barred.js';
import { withoutRoom } from '../workloads/room.js';
import { mayHaveHit, stillSpeaks } from './proof-alarms.js';
import { collateralStep, drillStep } from './proof-facts.js';
import { proofStep } from './proof-step.js';
import { uncountedPowerOn, whyOver } from './recovery-end.js';
import {
  begin,
  close,
  countPowerOn,
  follow,
  judge,
  noteCollateral,
  take,
  takeLate,
  voidProof,
} from './recovery-intents.js';
import { assignedLate, followed } from './recovery-line.js';

/** Of an incident. `contradicted`: its node speaks in the boot that was to have ended. */
type RecoveryCondition = ProvenCondition | `contradicted/${string}`;

/** An incident whose node is proven off. */
export interface RecoveryView {
  incident: IncidentRecord;
  /** Of the proof, while the incident is `fenced`. */
  collateral?: CollateralStep;
  /** The node speaks in the boot that is called off. */
  isContradicted: boolean;
}

/**
 * From `fenced` to `closed`: takes the workloads from the node whose power is proven off, sees them running elsewhere,
 * and wants the node powered on. Placing and starting is the workloads' own concern.
 */
export const recovery: Concern<RecoveryCondition> = {
  conditions: (fleet, ages) => ({
    holds: [...proven(fleet), ...contradicted(fleet, ages).map(contradictedCondition)],
  }),
  plan: (fleet, ages) => {
    const spoken = contradicted(fleet, ages);
    const voids = fleet.incidents.list.flatMap((e) => (isVoid(e.value) ? [e.value] : []));
    const isContradicted = new Set(spoken.map((i) => i.id));
    let roomless: ReadonlySet<string> | undefined;
    const hasNoRoom = (workload: string): boolean =>
      (roomless ??= withoutRoom(fleet, barred(fleet, ages))).has(workload);
    return [
      ...alarmIntents(fleet, ['collateral'], afterOff(fleet).filter(isHeld).map(mayHaveHit)),
      ...alarmIntents(fleet, ['conflict-power'], [...spoken, ...voids].map(stillSpeaks)),
      ...intentsOfEach(
        afterOff(fleet),
        ({ node }) => ({ node }),
        (i): Intent[] => {
          if (isContradicted.has(i.id) && isCertain(i, fleet, ages)) return [voidProof(i)];
          if (i.phase === 'recovered') return finish(i, fleet);
          if (isContradicted.has(i.id)) return [];
          return i.phase === 'fenced' ? onProof(i, fleet, ages) : goOn(i, fleet, hasNoRoom);
        },
      ),
    ];
  },
};

/** How far each is, by the ages of who recovers them. */
export function recoveryViews(fleet: Fleet, ages: Ages<RecoveryCondition>): RecoveryView[] {
  const isContradicted = new Set(contradicted(fleet, ages).map((i) => i.id));
  return afterOff(fleet).map((incident) => ({
    incident,
    ...(incident.phase === 'fenced' && {
      collateral: collateralStep(incident, fleet, ages.of(provenCondition(incident))),
    }),
    isContradicted: isContradicted.has(incident.id),
  }));
}

const afterOff = perFleet(({ incidents }: Fleet): IncidentRecord[] =>
  incidents.list.map((e) => e.value).filter(isAfterOff),
);

const contradictedCondition = ({ id }: IncidentRecord): RecoveryCondition => `contradicted/${id}`;

/** It has gone on speaking: what came since the first look that contradicted it was not on its way all the while. */
const isCertain = (i: IncidentRecord, { heard }: Fleet, ages: Ages<RecoveryCondition>): boolean =>
  (heard(i.node)?.ago ?? Infinity) < ages.of(contradictedCondition(i));

function onProof(i: IncidentRecord, fleet: Fleet, ages: Ages<RecoveryCondition>): Intent[] {
  const provenFor = ages.of(provenCondition(i));
  const next = proofStep(i, {
    isEmpty: fleet.workloads.live && assignedTo(fleet, i.node).length === 0,
    drill: () => drillStep(i, fleet, provenFor),
    collateral: () => collateralStep(i, fleet, provenFor),
  });
  switch (next.do) {
    case 'begin':
      return [begin(i)];
    case 'judge':
      return [judge(i, next.drill)];
    case 'note':
      return [noteCollateral(i, next.collateral)];
    case 'wait':
      return [];
  }
}

/** Takes what is still assigned there, and writes down how the others have gone on. */
function goOn(i: IncidentRecord, fleet: Fleet, hasNoRoom: (workload: string) => boolean): Intent[] {
  const late = assignedLate(i, fleet);
  const taken = [...i.recovery, ...late].filter(({ workload }) => {
    const seen = fleet.workloads.get(workload)?.value;
    return seen === undefined || seen.assignment?.node === i.node;
  });
  const decide: ChangeIncident['decide'] = (now, by) => followed(now, by, late, hasNoRoom);
  const isNews = followed(i, { fleet, token: i.conductor }, late, hasNoRoom) !== undefined;
  return [...taken.map((r) => take(i.node, r.workload)), ...(isNews ? [follow(i, decide)] : [])];
}

/** Recovered: counts the power-on, takes what was assigned there late, and closes when the node is back. */
function finish(i: IncidentRecord, fleet: Fleet): Intent[] {
  const node = fleet.nodes.get(i.node)?.value;
  const requestedAt = node && uncountedPowerOn(i, node);
  const isOff = node?.confirmedOff?.incident === i.id;
  const late = isOff ? assignedTo(fleet, i.node) : [];
  const why = requestedAt === undefined ? whyOver(i, node) : undefined;
  return [
    ...(requestedAt === undefined ? [] : [countPowerOn(i, requestedAt)]),
    ...late.map((w) => takeLate(i, w.name)),
    ...(why === undefined ? [] : [close(i, why)]),
  ];
}

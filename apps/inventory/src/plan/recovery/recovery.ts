import type { IncidentRecord, ProofDoubt } from '#contracts';
import { isAfterOff, isVoid } from '#domain/incident/phases.js';
import { isHeld } from '../../power/collateral.js';
import { foreignDevice, foreignSince, hasBootedSince } from '../../power/proof-doubt.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { aboutNode, allIntents, eachMade, eachRecord, isDecided, type Decided } from '../each-record.js';
import type { ChangeIncident, Intent } from '../intent.js';
import { contradicted, proven, provenCondition, wordOf, type ProvenCondition } from '../power/contradicted.js';
import { barred } from '../workloads/barred.js';
import { withoutRoom } from '../workloads/room.js';
import { mayHaveHit, stillSpeaks } from './proof-alarms.js';
import { collateralStep, drillStep, silent } from './proof-facts.js';
import { proofStep, type ProofStep } from './proof-step.js';
import { uncountedPowerOn, whyOver } from './recovery-end.js';
import {
  begin,
  close,
  countPowerOn,
  doubt,
  endDoubt,
  follow,
  judge,
  noteCollateral,
  clearAssignment,
  voidProof,
} from './recovery-intents.js';
import { bootFacts, isComingBack } from './ended-boot.js';
import { assignedLate, followed } from './recovery-line.js';
import { isEmpty, mayTake } from './recovery-start.js';

/** Of an incident. `contradicted`: something speaks against its proof of off. */
type RecoveryCondition = ProvenCondition | `contradicted/${string}`;

/** An incident whose node is proven off. */
export interface RecoveryView {
  incident: IncidentRecord;
  /** What becomes of its proof, while the incident is `fenced`. */
  proof?: ProofStep;
  /** Something speaks against its proof: the node, in the boot that the proof says has ended, or what was found of its device. */
  isContradicted: boolean;
}

/**
 * From `fenced` to `closed`: takes the workloads from the node whose power is proven off, sees them running elsewhere,
 * and wants the node powered on. Placing and starting is the workloads' own concern.
 */
export const recovery: Concern<RecoveryCondition> = {
  conditions: (fleet, ages) => {
    const known = proven(fleet);
    const spoken = contradicted(fleet, ages);
    return {
      holds: [...known.made, ...spoken.made.map(contradictedCondition)],
      failed: [...known.failed, ...spoken.failed],
    };
  },
  plan: (fleet, ages) => {
    const spoken = contradicted(fleet, ages);
    const isContradicted = new Set(spoken.made.map((i) => i.id));
    let roomless: ReadonlySet<string> | undefined;
    const hasNoRoom = (workload: string): boolean =>
      (roomless ??= withoutRoom(fleet, barred(fleet, ages))).has(workload);
    const next = eachMade(afterOff(fleet), aboutIt, (i): Intent[] => {
      const news = newDoubt(i, fleet, isContradicted.has(i.id));
      if (news.length > 0) return news;
      if (isContradicted.has(i.id) && isCertain(i, fleet, ages)) return [voidProof(i)];
      const over = isContradicted.has(i.id) ? endedDoubt(i, fleet, ages) : undefined;
      if (over !== undefined) return [endDoubt(i, over)];
      if (i.phase === 'recovered') return finish(i, fleet, isContradicted.has(i.id));
      if (isContradicted.has(i.id)) return [];
      return i.phase === 'fenced' ? onProof(i, fleet, ages) : goOn(i, fleet, hasNoRoom);
    });
    const isProof = afterOff(fleet).made.some((i) => i.phase === 'fenced');
    return [...(isProof ? silent(fleet).failed : []), ...proofAlarms(fleet, spoken), ...allIntents(next)];
  },
};

/** What somebody is told of proofs of off. */
function proofAlarms(fleet: Fleet, spoken: Decided<IncidentRecord>): Intent[] {
  const hit = eachMade(afterOff(fleet), aboutIt, (i) => (isHeld(i) ? [mayHaveHit(i)] : []));
  const voids = eachRecord(fleet.incidents.list, aboutNode, ({ value: i }) => (isVoid(i) ? [i] : []));
  const both = { made: [...spoken.made, ...voids.made], failed: [...spoken.failed, ...voids.failed] };
  const speaks = eachMade(both, aboutIt, (i) => [stillSpeaks(i)]);
  return [
    ...hit.failed,
    ...speaks.failed,
    ...alarmIntents(fleet, ['collateral'], hit.made, isDecided(hit.failed)),
    ...alarmIntents(fleet, ['conflict-power'], speaks.made, isDecided(speaks.failed)),
  ];
}

/** A person's word that one report contradicts is in doubt for so long, ms: five reports have not come by then. */
const DOUBT_MS = 5_000;

const aboutIt = ({ node }: IncidentRecord): About => ({ node });

/** How far each is, by the ages of who recovers them. */
export function recoveryViews(fleet: Fleet, ages: Ages<RecoveryCondition>): readonly RecoveryView[] {
  const isContradicted = new Set(contradicted(fleet, ages).made.map((i) => i.id));
  return eachMade(afterOff(fleet), aboutIt, (incident): RecoveryView[] => [
    {
      incident,
      ...(incident.phase === 'fenced' && {
        proof: stepOf(incident, fleet, ages),
      }),
      isContradicted: isContradicted.has(incident.id),
    },
  ]).made;
}

const afterOff = perFleet(({ incidents }: Fleet): Decided<IncidentRecord> =>
  eachRecord(incidents.list, aboutNode, ({ value: i }) => (isAfterOff(i) ? [i] : [])),
);

const contradictedCondition = ({ id }: IncidentRecord): RecoveryCondition => `contradicted/${id}`;

/** What speaks against its proof and is not on record yet. Whoever takes over may know nothing of it. */
function newDoubt(i: IncidentRecord, fleet: Fleet, isSpoken: boolean): Intent[] {
  const { proof, bootId } = i;
  if (proof === undefined || proof.doubt !== undefined) return [];
  if (isSpoken) return [doubt(i, proof.at, { ...(bootId !== undefined && { bootId }) })];
  const device = foreignSince(i, fleet.nodes.get(i.node)?.value, () => isEmpty(i, fleet));
  return device === undefined ? [] : [doubt(i, proof.at, { device: device.id })];
}

/**
 * It has gone on speaking: what came since the first look that contradicted it was not on its way all the while. Or its
 * device is another machine's, by what was found, or was written of it by who could not void the proof any more. Where it
 * is neither, its work waits for its next word in any boot, or for a person; the word of a person would be in doubt for ever.
 */
function isCertain(i: IncidentRecord, fleet: Fleet, ages: Ages<RecoveryCondition>): boolean {
  const forMs = ages.of(contradictedCondition(i));
  const word = wordOf(fleet, i.node);
  const hasGoneOn = word !== undefined && word.bootId === i.bootId && word.agoMs < forMs;
  const isForeign =
    i.proof?.doubt?.device !== undefined || foreignDevice(i, fleet.nodes.get(i.node)?.value) !== undefined;
  return hasGoneOn || isForeign || (i.proof?.kind === 'manual' && forMs >= DOUBT_MS);
}

/** A doubt that is over. */
function endedDoubt(i: IncidentRecord, fleet: Fleet, ages: Ages<RecoveryCondition>): ProofDoubt | undefined {
  const known = i.proof?.doubt;
  const isOver = known && hasBootedSince(known, wordOf(fleet, i.node), ages.of(contradictedCondition(i)));
  return isOver === true ? known : undefined;
}

function stepOf(i: IncidentRecord, fleet: Fleet, ages: Ages<RecoveryCondition>): ProofStep {
  const provenFor = ages.of(provenCondition(i));
  return proofStep(i, {
    isEmpty: isEmpty(i, fleet),
    isComingBack: () => isComingBack(i, fleet.nodes.get(i.node)?.value, fleet),
    drill: () => drillStep(i, fleet, provenFor),
    collateral: () => collateralStep(i, fleet, provenFor),
  });
}

function onProof(i: IncidentRecord, fleet: Fleet, ages: Ages<RecoveryCondition>): Intent[] {
  const next = stepOf(i, fleet, ages);
  switch (next.do) {
    case 'begin':
      return [begin(i, bootFacts(i, fleet))];
    case 'judge':
      return [judge(i, next.drill)];
    case 'note':
      return [noteCollateral(i, next.collateral)];
    case 'wait':
    case 'await-verdict':
    case 'held':
      return [];
  }
}

/** Takes what is still assigned there while it is off, and writes down how the others have gone on. */
function goOn(i: IncidentRecord, fleet: Fleet, hasNoRoom: (workload: string) => boolean): Intent[] {
  const late = assignedLate(i, fleet);
  const taken = (mayTake(i, fleet) ? [...i.recovery, ...late] : []).filter(({ workload }) => {
    const seen = fleet.workloads.get(workload)?.value;
    return seen === undefined || seen.assignment?.node === i.node;
  });
  const decide: ChangeIncident['decide'] = (now, by) => followed(now, by, late, hasNoRoom);
  const isNews = followed(i, { fleet, token: i.conductor }, late, hasNoRoom) !== undefined;
  return [...taken.map((r) => clearAssignment(i, r.workload)), ...(isNews ? [follow(i, decide)] : [])];
}

/**
 * Recovered: counts the power-on, takes what was assigned there late, and closes when the node is back.
 * @param isDoubted it may be on: nothing is taken from it
 */
function finish(i: IncidentRecord, fleet: Fleet, isDoubted: boolean): Intent[] {
  const node = fleet.nodes.get(i.node)?.value;
  const requestedAt = node && uncountedPowerOn(i, node);
  const isOff = node !== undefined && mayTake(i, fleet) && !isDoubted;
  const late = isOff ? assignedTo(fleet, i.node) : [];
  const why = requestedAt === undefined ? whyOver(i, node) : undefined;
  return [
    ...(requestedAt === undefined ? [] : [countPowerOn(i, requestedAt)]),
    ...late.map((w) => clearAssignment(i, w.name)),
    ...(why === undefined ? [] : [close(i, why)]),
  ];
}

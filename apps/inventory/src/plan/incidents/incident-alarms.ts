import {
  alarmKey,
  isOpenIncident,
  lastFailure,
  type AlarmCode,
  type GateCode,
  type IncidentRecord,
  type NodeRecord,
  type StormView,
} from '#contracts';
import { isCancelledByOperator } from './operator-cancel.js';
import { FLEET, type WantedAlarm } from '../../alarms/keep-alarms.js';
import { runsNowhere } from '../alarms/dead-work.js';
import { wasCommanded } from '#domain/incident/phases.js';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { isWantedAlive } from '#domain/incident/verdict-effect.js';
import { StormNumbers } from '#domain/incident/storm-counts.js';
import { shownLife } from '#domain/incident/life-signs.js';

/** Alarms that stand for the state of incidents: raised and cleared from here and nowhere else. */
export const incidentAlarmCodes: readonly AlarmCode[] = [
  'agent-down',
  'host-hung',
  'partial-reachability',
  'brake',
  'domain-down',
  'not-fenceable',
  'fencing-suppressed',
  'fencing-failed',
  'power-on-withheld',
];

/** As long as they stand, what should run on their node runs nowhere. */
const withoutRecovery: readonly AlarmCode[] = ['not-fenceable', 'fencing-suppressed', 'fencing-failed'];

/** All levels have 20 s, a takeover of the fencer's lease at most 18 s: an order that is this old, ms, has nobody. */
export const FENCING_STUCK_MS = 60_000;

function ofLifeSign(i: IncidentRecord, detail: string): WantedAlarm {
  const { node: subject } = i;
  switch (shownLife(i.verdict)) {
    case 'agent-down':
      return { code: 'agent-down', subject, severity: 'warning', message: detail };
    case 'hung':
      return { code: 'host-hung', subject, severity: 'critical', message: detail };
    case 'weak':
    case 'unwitnessed':
      return { code: 'fencing-suppressed', subject, severity: 'critical', message: `LIFE_SIGN: ${detail}` };
    default:
      return { code: 'partial-reachability', subject, severity: 'warning', message: detail };
  }
}

const ofGate = (i: IncidentRecord, gate: GateCode, domain: string): WantedAlarm => {
  const detail = i.gates.find((g) => g.gate === gate)?.detail ?? '';
  const suppressed = (message: string): WantedAlarm => ({
    code: 'fencing-suppressed',
    subject: i.node,
    severity: 'critical',
    message,
  });
  // Whether it lives is no matter of the order.
  if (isWantedAlive(i) && (gate === 'LIFE_SIGN' || gate === 'NOT_FENCEABLE'))
    return suppressed(`Its power-off was ordered, and is not given. ${gate}: ${detail}`);
  switch (gate) {
    case 'LIFE_SIGN':
      return ofLifeSign(i, detail);
    case 'BRAKE':
      return { code: 'brake', subject: FLEET, severity: 'critical', message: `Fencing is braked. ${detail}` };
    case 'DOMAIN':
      return { code: 'domain-down', subject: domain, severity: 'critical', message: detail };
    case 'NOT_FENCEABLE':
      return {
        code: 'not-fenceable',
        subject: i.node,
        severity: 'critical',
        message: `It seems dead and is not fenced. ${detail}`,
      };
    default:
      return suppressed(`${gate}: ${detail}`);
  }
};

/**
 * Of a storm that stands. Figures that change by the second are left out: each change of words is told anew. Of one that
 * does not end by itself that is wanted, every quarter of an hour.
 */
function ofStorm(s: StormView): WantedAlarm {
  const quarters = Math.floor(s.standsForMs / StormNumbers.repeatEvery);
  const stood = s.resumesAt === undefined && quarters > 0 ? ` It has stood for ${quarters * 15} min.` : '';
  const counted = s.restDomain === undefined ? '' : ` of failure domain ${s.restDomain.name}`;
  const rest = `${s.rest.length} of ${s.members.length} node(s) of storm ${s.id} are not back (at most ${s.limit}${counted} may be)`;
  const end =
    s.resumesAt === undefined
      ? `it does not end by itself: muster storm get ${s.id}.`
      : 'fencing of its members resumes two minutes after the last return.';
  const message = `Fencing is braked: ${rest}; ${end}${stood}`;
  return s.cause === 'domain'
    ? { code: 'domain-down', subject: s.domain ?? FLEET, severity: 'critical', message }
    : { code: 'brake', subject: FLEET, severity: 'critical', message };
}

export interface IncidentAlarmFacts {
  /** Its record; undefined: it was deleted. */
  nodeOf(node: string): NodeRecord | undefined;
  /** In phase `fencing` for longer than {@link FENCING_STUCK_MS}. */
  isStuck(i: IncidentRecord): boolean;
  /** Workloads that should run there. */
  workOn(node: string): readonly string[];
}

/** Of the storms that stand: one that an operator must end comes first. */
export const alarmsOfStorms = (storms: readonly StormView[]): WantedAlarm[] =>
  storms.toSorted((a, b) => Number(a.resumesAt !== undefined) - Number(b.resumesAt !== undefined)).map(ofStorm);

/** Each subject once, in the words that come first. */
export function eachOnce(wanted: readonly WantedAlarm[]): WantedAlarm[] {
  const first = new Map<string, WantedAlarm>();
  for (const a of wanted) {
    const key = alarmKey(a.code, a.subject);
    if (!first.has(key)) first.set(key, a);
  }
  return [...first.values()];
}

/** All that an incident calls for as it is, but for the boot that is missed, which is told on a clock of its own. */
export function alarmsOf(i: IncidentRecord, f: IncidentAlarmFacts): WantedAlarm[] {
  const node = f.nodeOf(i.node);
  // An operator may want one off that is heard: what should run there does.
  const isHeard = isWantedAlive(i) && node?.state === 'Discovered';
  const wanted = [leftOff(i, node), notRecovered(i, node), ...whileOpen(i, node, f)].filter((a) => a !== undefined);
  return wanted.map((a) => {
    const work = withoutRecovery.includes(a.code) && !isHeard ? runsNowhere(f.workOn(a.subject)) : '';
    return { ...a, message: `${a.message}${work}` };
  });
}

/** It is off, and stays so. */
export function leftOff(i: IncidentRecord, node: NodeRecord | undefined): WantedAlarm | undefined {
  // A drill took it off and could not bring it back: nobody else knows that it is off.
  const isDrilled = i.drill !== undefined && wasCommanded(i) && node !== undefined;
  if (isDrilled && i.order?.ok === false && node.state !== 'Discovered')
    return {
      code: 'power-on-withheld',
      subject: i.node,
      severity: 'critical',
      message: `A drill powered it off, and it is not on again: ${i.order.detail ?? ''} To switch it on: muster node power on ${i.node} --reason "…".`,
    };
  // Its record says that it is on again also while nobody is judged.
  const isOff = node !== undefined && isOffByIncident(node, i);
  const isWithheld = isOff && i.phase === 'recovered' && (i.powerOn?.wanted === false || i.powerOn?.ok === false);
  // What an operator has ordered since counts instead, until it has failed.
  const isSwitchedByHand = i.order !== undefined && i.order.ok !== false;
  if (!isWithheld || isSwitchedByHand) return undefined;
  return {
    code: 'power-on-withheld',
    subject: i.node,
    severity: 'warning',
    message: i.order?.detail ?? i.powerOn?.detail ?? 'It stays off.',
  };
}

const notRecovered = (i: IncidentRecord, node: NodeRecord | undefined): WantedAlarm | undefined =>
  isCancelledByOperator(i) && node !== undefined && i.takenBack !== undefined
    ? {
        code: 'fencing-suppressed',
        subject: i.node,
        severity: 'critical',
        message: `${i.takenBack.by} cancelled its incident (${i.takenBack.reason}): it is not heard, and nothing of it is recovered. To order it again: muster node fence ${i.node} --reason "…".`,
      }
    : undefined;

function whileOpen(
  i: IncidentRecord,
  node: NodeRecord | undefined,
  f: IncidentAlarmFacts,
): (WantedAlarm | undefined)[] {
  if (!isOpenIncident(i)) return [];
  const { gate } = i;
  const isStopped = i.phase === 'suppressed' && gate !== undefined;
  return [isStopped ? ofGate(i, gate, node?.failureDomain ?? 'default') : undefined, notOff(i, f)];
}

function notOff(i: IncidentRecord, f: IncidentAlarmFacts): WantedAlarm | undefined {
  const failed = { code: 'fencing-failed', subject: i.node, severity: 'critical' } as const;
  const failure = failureOf(i);
  // It says more than that nobody takes the next order.
  if (failure !== undefined)
    return {
      ...failed,
      message: `Its power could not be proven off; its workloads are started nowhere. ${failure}`,
    };
  if (i.phase !== 'fencing' || !f.isStuck(i)) return undefined;
  return {
    ...failed,
    message:
      'It was to be powered off a minute ago and is not: there is no fencer that can, or it may not. Its workloads are started nowhere.',
  };
}

/** How its last attempt ended, also while it is tried again: the alarm is over when it is fenced, and not before. */
function failureOf(i: IncidentRecord): string | undefined {
  if (i.phase !== 'failed' && (i.phase !== 'fencing' || i.attempt === 0)) return undefined;
  return lastFailure(i)?.detail ?? '';
}

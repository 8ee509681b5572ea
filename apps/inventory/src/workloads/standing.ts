import {
  alarmRemedy,
  gateRemedy,
  outRemedy,
  phaseText,
  type IncidentRecord,
  type NodeRecord,
  type Remedy,
  type RunningWorkload,
  type VerdictKind,
  type WorkloadRecord,
  type WorkloadStanding,
} from '#contracts';
import { PUT } from '#domain/workload/causes.js';
import { failedStart, failedStop } from '#domain/workload/failed-tries.js';
import { isCancelledByOperator } from '../plan/incidents/operator-cancel.js';

/**
 * What a node says of its workloads may be of 5 s before its report: what changed later than this ago, ms, is not yet held
 * against it.
 */
const CHANGE_SEEN_MS = 6_000;
/**
 * A node's last word counts for this long, ms, while nobody says that it is dead: a look must not call its work unknown for
 * one report that came late.
 */
const LAST_WORD_MS = 10_000;

/** What is known of the node that a workload is assigned to. */
export interface AssignedNode {
  record: NodeRecord;
  /** The last word on it. */
  verdict: VerdictKind | undefined;
  /** Its open incident, or one that an operator has cancelled. */
  incident?: IncidentRecord | undefined;
  /** Its last report; absent: none was heard. */
  report?: { ageMs: number; workloads: readonly RunningWorkload[] | undefined } | undefined;
}

export interface StandingFacts {
  workload: WorkloadRecord;
  /** Where it is assigned; undefined: nowhere, or that node is on no record. */
  node?: AssignedNode | undefined;
  /** Another node whose fresh report names it. */
  elsewhere?: string | undefined;
  /** No node has room for it. */
  noRoom: boolean;
  /** ms since its record changed, as far as who asks has seen; never more than it is. */
  changedForMs: number;
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** Pure: what is with a workload, why it is not as it should be, and what to do. */
export function workloadStanding(f: StandingFacts): WorkloadStanding {
  const { workload: w } = f;
  if (w.desired === 'stopped') return ofStopped(f);
  if (f.elsewhere !== undefined && f.changedForMs >= CHANGE_SEEN_MS)
    return {
      state: 'elsewhere',
      seenOn: f.elsewhere,
      why: `It runs on ${f.elsewhere} while it is assigned to ${w.assignment?.node ?? 'no node'}.`,
      remedy: alarmRemedy({ code: 'conflict-workload', subject: w.name }),
    };
  if (w.assignment === undefined) return ofUnassigned(f);
  const { node } = f;
  if (node === undefined) return unknownNode(w);
  const run = runIn(node, w.name);
  const age = ageOf(node);
  if (run !== undefined) {
    const runs = run.starting !== true && w.stop === undefined && (w.start === undefined || w.start.cause === PUT);
    const state = w.stop !== undefined ? 'stopping' : runs ? 'running' : 'starting';
    const failing = failed(w);
    return { state: failing && !runs ? 'failing' : state, seenOn: node.record.name, ...age, ...(!runs && failing) };
  }
  const silent = whySilent(node);
  if (silent !== undefined) return { ...silent, ...age, ...alsoForget(w, node, silent) };
  return { ...ofAbsent(f, node), ...age };
}

/** Its node speaks, and does not name it. */
function ofAbsent({ workload: w, changedForMs }: StandingFacts, node: AssignedNode): WorkloadStanding {
  const name = node.record.name;
  const failing = failed(w);
  if (failing !== undefined) return { state: 'failing', ...failing };
  if (w.stop !== undefined) return { state: 'stopping' };
  if (w.start?.job !== undefined) return { state: 'starting' };
  const see = { text: 'The message says what it waits for.', command: `muster node get ${name}` };
  if (w.held !== undefined) return { state: 'held', why: w.held, remedy: see };
  if (changedForMs < CHANGE_SEEN_MS) return { state: 'starting' };
  if (w.start !== undefined)
    return { state: 'waiting', why: `Its start on ${name} is owed, and was not given yet.`, remedy: see };
  return {
    state: 'missing',
    why: `${name} is heard and does not run it.`,
    remedy: {
      text: `See on ${name} why its unit has ended (systemctl status, journalctl -u).`,
      command: `muster events --kind workload --since 1h`,
    },
  };
}

function ofUnassigned({ workload: w, noRoom }: StandingFacts): WorkloadStanding {
  const why = w.held ?? 'It is assigned to no node yet.';
  if (noRoom) return { state: 'no-room', why, remedy: alarmRemedy({ code: 'no-room', subject: w.name }) };
  const remedy = { text: 'It is placed by itself as soon as nothing stands in the way.', command: 'muster alarms' };
  return { state: w.held === undefined ? 'waiting' : 'held', why, remedy };
}

function ofStopped(f: StandingFacts): WorkloadStanding {
  const { workload: w, node } = f;
  const run = node && runIn(node, w.name);
  const on = run === undefined ? f.elsewhere : node?.record.name;
  const age = node === undefined ? {} : ageOf(node);
  const failing = node && failed(w);
  if (on !== undefined) {
    if (failing !== undefined) return { state: 'still-running', seenOn: on, ...age, ...failing };
    if (w.stop !== undefined || f.changedForMs < CHANGE_SEEN_MS) return { state: 'stopping', seenOn: on, ...age };
    return {
      state: 'still-running',
      seenOn: on,
      ...age,
      why: `It shall not run, and runs on ${on}.`,
      remedy: {
        text: 'It is stopped by itself; where that does not help, stop it there by hand.',
        command: 'muster alarms',
      },
    };
  }
  if (w.stop === undefined || w.assignment === undefined) return { state: 'stopped', ...age };
  if (node === undefined) return unknownNode(w);
  const silent = whySilent(node);
  if (silent !== undefined)
    return {
      state: 'unknown',
      why: `Its stop waits. ${silent.why}`,
      remedy: silent.remedy,
      ...age,
      ...alsoForget(w, node, silent),
    };
  return failing === undefined ? { state: 'stopping', ...age } : { state: 'failing', ...failing, ...age };
}

const unknownNode = (w: WorkloadRecord): WorkloadStanding => ({
  state: 'unknown',
  why: `Its node ${w.assignment?.node ?? ''} is on no record.`,
  remedy: { text: 'See which nodes there are.', command: 'muster nodes get' },
});

/** A start or a stop of it that did not work so far. */
function failed(w: WorkloadRecord): { why: string; remedy: Remedy } | undefined {
  const why = w.stop === undefined ? failedStart(w) : failedStop(w);
  if (why === undefined) return undefined;
  return {
    why,
    remedy: {
      text: 'The log of the job says why (muster job logs ID). It is tried again by itself.',
      command: 'muster job list --status Errored',
    },
  };
}

/** What its node last said of it, while that counts. */
function runIn({ report, verdict }: AssignedNode, name: string): RunningWorkload | undefined {
  const counts = report !== undefined && report.ageMs < LAST_WORD_MS && verdict !== 'DOWN' && verdict !== 'LEFT';
  return counts ? report.workloads?.find((r) => r.name === name) : undefined;
}

const ageOf = ({ report }: AssignedNode): { reportAgeMs?: number } =>
  report === undefined ? {} : { reportAgeMs: Math.round(report.ageMs) };

type Silent = Required<Pick<WorkloadStanding, 'state' | 'why' | 'remedy'>>;

/** Why nothing can be said by the node's own word; undefined: it speaks. */
function whySilent(node: AssignedNode): Silent | undefined {
  const { record: n, verdict, report } = node;
  const said = (state: Silent['state'], why: string, remedy: Remedy): Silent => ({ state, why, remedy });
  const see = { text: 'See by whom it is heard, and since when.', command: `muster node why ${n.name}` };
  const byIncident = whyIncident(node);
  if (byIncident !== undefined) return byIncident;
  if (verdict === 'DOWN') {
    const alone = `${n.name} is DOWN${n.cordon === undefined ? '.' : ` and cordoned by ${n.cordon.by} (${n.cordon.reason}): it is not fenced.`}`;
    return said('dead', alone, n.cordon === undefined ? see : alarmRemedy({ code: 'dead-with-work', subject: n.name }));
  }
  if (verdict === 'LEFT')
    return said('waiting', `${n.name} has left (${n.verdict?.left ?? 'planned'}), and is not back.`, see);
  if (n.revoked !== undefined)
    return said('unknown', `The agent of ${n.name} was shut out: nobody sees what runs there.`, outRemedy('STATE', n));
  if (report === undefined && isNeverHeard(n))
    return said('unknown', `${n.name} was never heard: nobody knows what runs there.`, outRemedy('STATE', n));
  if (report === undefined || report.ageMs >= LAST_WORD_MS) {
    const since = report === undefined ? '' : ` for ${seconds(report.ageMs)}`;
    return said(
      'unknown',
      `${n.name} has not reported${since}${verdict === undefined ? '' : `, and is ${verdict}`}.`,
      see,
    );
  }
  if (report.workloads === undefined)
    return said('unknown', `${n.name} does not say what it runs.`, {
      text: 'Run muster-agent status there: its lister fails, or it has none.',
      command: see.command,
    });
  return undefined;
}

/** Its incident decides what becomes of the node and its work. */
function whyIncident({ record: n, incident: i, verdict, report }: AssignedNode): Silent | undefined {
  if (i === undefined) return undefined;
  const see = { text: 'See how far it is, and what it waits for.', command: `muster incident get ${n.name}` };
  const spoke = report !== undefined && report.ageMs < LAST_WORD_MS && verdict !== 'DOWN';
  if (isCancelledByOperator(i) && !spoke)
    return {
      state: 'dead',
      why: `${n.name} is not heard, and ${i.takenBack?.by ?? 'an operator'} cancelled its incident (${i.takenBack?.reason ?? ''}).`,
      remedy: {
        text: 'Order it again: its work starts elsewhere then.',
        command: `muster node fence ${n.name} --reason "…"`,
      },
    };
  switch (i.phase) {
    case 'suppressed': {
      if (spoke || i.gate === undefined) return undefined;
      const detail = i.gates.find((g) => g.gate === i.gate)?.detail ?? '';
      return {
        state: i.gate === 'LIFE_SIGN' ? 'unknown' : 'dead',
        why: `${n.name} is not heard, and its incident is blocked by ${i.gate}: ${detail}`,
        remedy: gateRemedy(i.gate, n.name),
      };
    }
    case 'failed':
      return {
        state: 'dead',
        why: `${n.name} could not be proven off.`,
        remedy: alarmRemedy({ code: 'fencing-failed', subject: n.name }),
      };
    case 'recovered':
      // Its work was taken from it; what was assigned there since waits until it is back.
      return n.confirmedOff === undefined
        ? undefined
        : { state: 'waiting', why: `${n.name} was fenced, and is not back.`, remedy: see };
    case 'closed':
    case 'survived':
    case 'cancelled':
      return undefined;
    default:
      return spoke
        ? undefined
        : { state: 'dead', why: `${n.name} is not heard, and its incident is ${phaseText(i)}.`, remedy: see };
  }
}

/** Neither its agent nor a detector has ever named a boot of it. */
export const isNeverHeard = (n: NodeRecord): boolean =>
  n.bootId === undefined && n.verdict?.bootId === undefined && n.confirmedOff === undefined;

/** Of a node that was never heard there is a way out that touches nothing. */
const alsoForget = (w: WorkloadRecord, { record: n, report }: AssignedNode, silent: Silent): { remedy?: Remedy } =>
  isNeverHeard(n) && report === undefined
    ? {
        remedy: {
          text: `${silent.remedy.text} Where ${w.name} does not run there, forget it: muster workload delete ${w.name} --reason "…".`,
          command: silent.remedy.command,
        },
      }
    : {};

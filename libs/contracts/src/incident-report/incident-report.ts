import { type AlarmRecord } from '../alarms/alarm.js';
import { isEndedJob, type JobRecord, type JobKind, type JobStatus } from '../job/job.js';
import type { EventMap } from '../rpc/events.js';
import type { PublicEvent } from '../rpc/public-event.js';
import type { Verdict } from '../verdict/verdict.js';
import {
  type GateCode,
  type GateResult,
  type IncidentRecord,
  isKept,
  isOpenIncident,
  type OffProof,
  type PowerCommand,
} from '../incident/incident.js';
import { stepText } from '../incident/phase-text.js';
import { openPoints } from './open-points.js';
import { EVENTS_AFTER_MS, type ReportFacts } from './report-facts.js';

/** Something that happened at a moment. */
export interface ReportMoment {
  /** Wall clock, ms, of the process that saw it. */
  at: number;
  /** Of the event, or `step` of the incident, or `command`. */
  kind: string;
  /** One sentence. */
  what: string;
}

/** What became of one workload of the node. */
export interface ReportMove {
  workload: string;
  from: string;
  to?: string;
  state: IncidentRecord['recovery'][number]['state'];
  /** Its start was confirmed, ms of wall clock. */
  startedAt?: number;
  detail?: string;
}

/** A job that the incident ordered, or that ran on its node meanwhile. */
export interface ReportJob {
  id: string;
  kind: JobKind;
  status: JobStatus;
  nodes: string[];
  by: string;
  createdAt: number;
  endedAt?: number;
  error: string;
}

/** One incident for those who want to learn from it: made of what is stored, without a word that nobody said. */
export interface IncidentReport {
  incident: string;
  node: string;
  phase: IncidentRecord['phase'];
  /** `suppressed`: the gate that stopped it. */
  gate?: GateCode;
  cause: IncidentRecord['cause'];
  openedAt: number;
  /** Of the last change of the record. */
  updatedAt: number;
  /** What happened, in a few sentences. */
  summary: string[];
  /** What the decision rested on. */
  evidence: string[];
  /** Gates as they were asked last, those that stopped it first. */
  gates: GateResult[];
  /** How it went on from phase to phase. */
  decisions: ReportMoment[];
  commands: PowerCommand[];
  proof?: OffProof;
  moved: ReportMove[];
  /** What people ordered, and what was refused to them. */
  people: ReportMoment[];
  jobs: ReportJob[];
  /** What somebody still has to look at; empty: nothing. */
  open: string[];
  /** All of it in the order of time. */
  timeline: ReportMoment[];
  /** What this report cannot tell. */
  gaps: string[];
}

/** Pure: the same facts make the same report. */
export function incidentReport(facts: ReportFacts): IncidentReport {
  const { incident: i } = facts;
  const until = isOpenIncident(i) ? Infinity : i.updatedAt + EVENTS_AFTER_MS;
  const f = { ...facts, events: facts.events.filter((e) => e.at <= until) };
  const decisions = i.steps.map((s) => ({ at: s.at, kind: 'step', what: stepText(s) }));
  const people = peopleOf(f);
  return {
    incident: i.id,
    node: i.node,
    phase: i.phase,
    ...(i.gate !== undefined && { gate: i.gate }),
    cause: i.cause,
    openedAt: i.openedAt,
    updatedAt: i.updatedAt,
    summary: summaryOf(i),
    evidence: evidenceOf(i),
    gates: [...i.gates].sort((a, b) => Number(a.pass) - Number(b.pass)),
    decisions,
    commands: i.commands,
    ...(i.proof !== undefined && { proof: i.proof }),
    moved: movesOf(f),
    people,
    jobs: f.jobs.map(jobOf).sort((a, b) => a.createdAt - b.createdAt),
    // What stands now counts, however long ago it began.
    open: openPoints(facts),
    timeline: timelineOf(f, [...decisions, ...people]),
    gaps: gapsOf(facts),
  };
}

function gapsOf({ incident, events, cut }: ReportFacts): string[] {
  const opening = (e: PublicEvent): boolean =>
    e.kind === 'incident' &&
    (e.data as EventMap['incident']).incident === incident.id &&
    e.at - incident.openedAt < SAME_MS;
  if (cut) return ['There were more events than were read: the oldest are missing.'];
  if (events.some(opening)) return [];
  return ['The event of its opening is not kept any more: what was told at that time is missing.'];
}

const sentence = (head: string, detail: string | undefined): string =>
  detail === undefined || detail === '' ? head : `${head}: ${detail}`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function summaryOf(i: IncidentRecord): string[] {
  const lines = [`The incident ${openedBy(i)}`];
  const given = i.commands.filter((c) => c.verb === 'off').length;
  if (i.proof !== undefined)
    lines.push(
      `${i.node} was proven off ${seconds(i.proof.at - i.openedAt)} after that (${i.proof.kind}), with ${given} power-off command(s).`,
    );
  else if (given > 0) lines.push(`${given} power-off command(s) were given, and nothing has proven ${i.node} off.`);
  else lines.push(`No power-off was given to ${i.node}.`);
  if (i.orderedAt !== undefined)
    lines.push(
      `${i.by ?? 'Somebody'} ordered it, too, ${seconds(i.orderedAt - i.openedAt)} after its opening: ${i.reason}`,
    );
  if (i.recovery.length > 0) {
    const running = i.recovery.filter((r) => r.state === 'running');
    const kept = running.filter(isKept).length;
    const onItself = kept === 0 ? '' : `, and ${kept} on ${i.node}, which has come back`;
    lines.push(`${running.length - kept} of ${i.recovery.length} workload(s) run elsewhere${onItself}.`);
  }
  const last = i.steps.at(-1);
  const how = isOpenIncident(i) ? 'It is still open' : 'It has ended';
  lines.push(`${how}: ${stepText({ ...i, detail: last?.phase === i.phase ? last.detail : undefined })}`);
  return lines;
}

function openedBy(i: IncidentRecord): string {
  // The reason is that of the order; a record keeps its first step.
  if (i.orderedAt !== undefined) return sentence('was opened by a verdict', i.steps[0]?.detail);
  const by = i.by === undefined ? '' : ` by ${i.by}`;
  return sentence(i.cause === 'manual' ? `was ordered${by}` : 'was opened by a verdict', i.reason);
}

function evidenceOf(i: IncidentRecord): string[] {
  const lines: string[] = [];
  const v = i.verdict;
  if (v !== undefined) {
    lines.push(`Verdict ${v.verdict} (epoch ${v.epoch}, sequence ${v.seq}): ${v.reason}`);
    lines.push(...votes(v));
  } else lines.push('No verdict: it rests on the order alone.');
  const { power, hungForMs } = i.evidence ?? {};
  if (power !== undefined) lines.push(`Its power devices said at suspicion: ${power}.`);
  if (hungForMs !== undefined) lines.push(`Its host had been hung for ${seconds(hungForMs)}.`);
  if (i.bootId !== undefined) lines.push(`The boot that was to end: ${i.bootId}.`);
  if (i.silentBefore !== undefined && i.silentBefore.length > 0)
    lines.push(`Not heard before its power-off already: ${i.silentBefore.join(', ')}.`);
  return lines;
}

function votes({ evidence: e }: Verdict): string[] {
  const named = (stance: string): string[] => [
    ...new Set(e.observers.filter((o) => o.stance === stance).map((o) => o.observer)),
  ];
  const lines = [
    `${e.accusers} of ${e.assigned} observers reported it down; ${e.sightedReporters} of ${e.members} members reported to the detector.`,
  ];
  const accusing = named('accuses');
  const hearing = named('hears');
  if (accusing.length > 0) lines.push(`Reported down by ${accusing.join(', ')}.`);
  if (hearing.length > 0) lines.push(`Heard by ${hearing.join(', ')}.`);
  if (e.ownReportAgeMs !== undefined) lines.push(`Its own last report was ${seconds(e.ownReportAgeMs)} old.`);
  if (e.left !== undefined) lines.push(`Its agent's last word was that it goes (${e.left}).`);
  return lines;
}

function movesOf({ incident, jobs }: ReportFacts): ReportMove[] {
  return incident.recovery.map((r) => {
    const job = jobs.find((j) => j.id === r.job);
    const said = r.to === undefined ? undefined : job?.results[r.to]?.workloads?.[r.workload];
    const detail = r.detail ?? (said?.started === false ? said.reason : undefined);
    return {
      workload: r.workload,
      from: r.from,
      ...(r.to !== undefined && { to: r.to }),
      state: r.state,
      ...(said?.started === true && job?.endedAt !== undefined && { startedAt: job.endedAt }),
      ...(detail !== undefined && { detail }),
    };
  });
}

const jobOf = (j: JobRecord): ReportJob => ({
  id: j.id,
  kind: j.kind,
  status: j.status,
  nodes: j.nodes,
  by: j.cause === undefined ? j.by : `${j.by} (${j.cause})`,
  createdAt: j.createdAt,
  ...(isEndedJob(j) && j.endedAt !== undefined && { endedAt: j.endedAt }),
  error: j.error,
});

/** The record keeps the last word of each kind; the audit keeps them all, as long as events are kept. */
const SAME_MS = 5_000;

function peopleOf({ incident: i, events }: ReportFacts): ReportMoment[] {
  const told = events
    .filter((e) => e.kind === 'audit')
    .map((e) => {
      const a = e.data as EventMap['audit'];
      const refused = a.outcome === 'refused' ? ', which was refused' : '';
      return { at: e.at, kind: 'audit', by: a.by, what: sentence(`${a.by}: ${a.action}${refused}`, a.detail) };
    });
  const kept: [at: number, by: string, what: string][] = [];
  if (i.cause === 'manual' && i.by !== undefined)
    kept.push([i.orderedAt ?? i.openedAt, i.by, sentence('fence', i.reason)]);
  if (i.released !== undefined)
    kept.push([
      i.released.at,
      i.released.by,
      sentence(`release past ${i.released.gates.join(', ')}`, i.released.reason),
    ]);
  if (i.takenBack !== undefined) kept.push([i.takenBack.at, i.takenBack.by, sentence('cancel', i.takenBack.reason)]);
  if (i.proof?.by !== undefined) kept.push([i.proof.at, i.proof.by, sentence('confirm', i.proof.reason)]);
  if (i.order !== undefined) kept.push([i.order.at, i.order.by, sentence(`power ${i.order.action}`, i.order.reason)]);
  const missing = kept
    .filter(([at, by]) => !told.some((t) => t.by === by && Math.abs(t.at - at) < SAME_MS))
    .map(([at, by, what]) => ({ at, kind: 'audit', by, what: `${by}: ${what}` }));
  return inOrder([...told, ...missing].map(({ at, kind, what }) => ({ at, kind, what })));
}

const inOrder = (moments: ReportMoment[]): ReportMoment[] => [...moments].sort((a, b) => a.at - b.at);

function timelineOf(f: ReportFacts, known: ReportMoment[]): ReportMoment[] {
  const commands = f.incident.commands.map((c) => ({ at: c.at, kind: 'command', what: commandText(c) }));
  const jobs = f.jobs.flatMap((j) => [
    { at: j.createdAt, kind: 'job', what: `${j.kind} on ${j.nodes.join(' ')} ordered (${j.id})` },
    ...(j.endedAt === undefined
      ? []
      : [{ at: j.endedAt, kind: 'job', what: sentence(`${j.kind} on ${j.nodes.join(' ')} ${j.status}`, j.error) }]),
  ]);
  const events = f.events.flatMap((e) => {
    const what = eventText(e);
    return what === undefined ? [] : [{ at: e.at, kind: e.kind, what }];
  });
  return inOrder([...known, ...commands, ...jobs, ...events]);
}

function commandText(c: PowerCommand): string {
  const took = c.tookMs === undefined ? '' : ` in ${seconds(c.tookMs)}`;
  const r = c.result;
  const outcome = r === undefined ? 'no result: it may have been carried out' : (r.power ?? (r.ok ? 'ok' : 'failed'));
  const why = r?.ok === false ? sentence(r.code ?? 'failed', r.detail) : undefined;
  return sentence(`${c.verb} ${c.device} by ${c.fencer} (token ${c.epoch}): ${outcome}${took}`, why);
}

/** Kinds that the record, the jobs and the audit tell better are left out. */
function eventText(e: PublicEvent): string | undefined {
  switch (e.kind) {
    case 'verdict':
      return sentence((e.data as Verdict).verdict, (e.data as Verdict).reason);
    case 'node-status':
      return `status ${(e.data as EventMap['node-status']).prev} → ${(e.data as EventMap['node-status']).status}`;
    case 'node-state':
      return sentence(`state ${(e.data as EventMap['node-state']).state}`, (e.data as EventMap['node-state']).reason);
    case 'out-of-service':
      return sentence('out of service', (e.data as EventMap['out-of-service']).reasons.join('; '));
    case 'in-service':
      return 'in service';
    case 'rebooted':
      return `booted (${(e.data as EventMap['rebooted']).bootId})`;
    case 'check':
      return `check ${(e.data as EventMap['check']).pass ? 'passed' : 'failed'}`;
    case 'resetup':
      return `set up anew: ${(e.data as EventMap['resetup']).ok ? 'ok' : 'failed'}`;
    case 'workload': {
      const w = e.data as EventMap['workload'];
      return `workload ${w.workload} ${w.change} (generation ${w.generation})`;
    }
    case 'alarm': {
      const a = e.data as AlarmRecord;
      return sentence(`${a.cleared === undefined ? 'raised' : 'cleared'} ${a.code}`, a.message);
    }
    default:
      return undefined;
  }
}

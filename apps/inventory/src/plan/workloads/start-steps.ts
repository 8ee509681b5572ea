import type { Assignment, WorkloadRecord } from '#contracts';
import { INCIDENT } from '#domain/workload/causes.js';
import { workloadAfter, type WorkloadEvent } from '#domain/workload/changes.js';
import type { Serving } from '#domain/workload/own-node.js';
import type { Placement } from '#domain/workload/placement.js';
import { mayStartByItself } from '#domain/workload/ungated.js';
import {
  GATE_MS,
  startRefusal,
  type StartQuestions,
  type StartReason,
  type StartRefusal,
} from '#domain/workload/start-decision.js';
import type { SeenElsewhere, StartCheck } from '#domain/workload/where-it-runs.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';
import type { FailRecord } from '../intent.js';
import { awaitedStarts } from './awaited-starts.js';
import { barred } from './barred.js';
import { whyNotStart, whyOut } from './candidate-nodes.js';
import { ownNodeStep } from './own-node-step.js';
import { retryAfterMs } from './recover-job.js';
import { placesFor } from './room.js';
import { mayFollow, startCheck } from './start-check.js';
import { atGate, awaitsNode, left, retry, word, type StartCondition } from './start-conditions.js';

/** What hinders a start, or a move, for less than this is no news, ms: a report may be on its way. */
export const ALARM_AFTER_MS = 3_000;

/** What the next round does about a workload that shall run, and is assigned nowhere or not started yet. */
export interface StartStep {
  workload: WorkloadRecord;
  do: 'place' | 'no-room' | 'start' | 'follow' | 'correct' | 'hold' | 'elsewhere' | 'wait';
  why: string;
  /** What stands against its start. */
  code?: StartReason;
  /** Where it goes, or is started. */
  to?: string;
  /** Until the wait is over by itself, ms; absent: something has to change. */
  leftMs?: number;
  /** Where it runs, and the registry follows it. */
  seen?: SeenElsewhere;
  /** Somebody is told this of it, and its record says it. `young`: it is not told yet. */
  held?: { text: string } | 'young';
}

type StartAges = Ages<StartCondition>;

/**
 * The step of each. Those that are assigned nowhere are placed all at once; then those that are to be started on another
 * node than theirs, in the room which that leaves.
 */
export function startSteps(fleet: Fleet, ages: StartAges): Decided<StartStep> {
  const own = ownSteps(fleet, ages);
  const switching = own.made.filter((s) => s.do === 'elsewhere').map((s) => s.workload);
  if (switching.length === 0) return own;
  const next = after(fleet, own.made);
  const others = placesFor(next.fleet, switching);
  return {
    made: own.made.map((s) => (s.do === 'elsewhere' ? switched(s, others.made.get(s.workload.name), fleet) : s)),
    failed: [...own.failed, ...next.failed, ...others.failed],
  };
}

/**
 * The same, but for where those go that are to be started on another node.
 * @throws MusterError where {@link barred} does: while nobody can say which workloads a node with a void proof had, any of
 * them may still run there, so none is started
 */
export function ownSteps(fleet: Fleet, ages: StartAges): Decided<StartStep> {
  const { awaited } = awaitedStarts(fleet);
  if (awaited.length === 0) return { made: [], failed: [] };
  const bars = barred(fleet, ages);
  const places = placesFor(
    fleet,
    awaited.filter((w) => w.assignment === undefined && !bars.has(w.name)),
  );
  const { made, failed } = eachRecord(awaited, aboutIt, (w): StartStep[] => {
    const refused = startRefusal('round', { barred: bars.get(w.name) });
    if (refused !== undefined) return [{ workload: w, do: 'hold', ...refused }];
    if (w.assignment === undefined) {
      const place = places.made.get(w.name);
      // None: nobody can say where it would go.
      return place === undefined ? [] : [placeStep(w, place, fleet, ages)];
    }
    if (w.start?.job === undefined) return [owedStep(w, w.assignment, fleet, ages)];
    return [{ workload: w, do: 'follow', why: `Job ${w.start.job} starts it on ${w.assignment.node}.` }];
  });
  return { made, failed: [...places.failed, ...failed] };
}

const aboutIt = ({ name: workload }: Pick<WorkloadRecord, 'name'>): About => ({ workload });

/** What the step makes of its assignment; undefined: nothing. */
export function assigning({ workload: w, do: does, to, seen }: StartStep, fleet: Fleet): WorkloadEvent | undefined {
  const { generation } = w;
  if (does === 'place' && to !== undefined) return { kind: 'assigned', to, cause: causeOf(w, fleet), generation };
  if (does === 'correct' && seen !== undefined)
    return {
      ...{ kind: 'corrected', seenOn: seen.node, generation },
      ...(seen.generation === undefined ? { cause: causeOf(w, fleet) } : { followed: seen.generation }),
    };
  const from = w.assignment?.node;
  if (does !== 'elsewhere' || from === undefined || to === undefined) return undefined;
  return { kind: 'moved', from, to, generation };
}

function replaceRefusal(fleet: Fleet, w: WorkloadRecord, to: string): StartRefusal | undefined {
  const node = w.assignment?.node;
  const startsByItselfOn = node !== undefined && startsByItself(fleet, node, w) ? node : undefined;
  return startRefusal('replace', { check: startCheck(fleet, w.name, to), startingForMs: () => 0, startsByItselfOn });
}

const startsByItself = ({ nodes }: Fleet, node: string, { name }: WorkloadRecord): boolean =>
  mayStartByItself(nodes.get(node)?.value, name);

function placeStep(w: WorkloadRecord, p: Placement, fleet: Fleet, ages: StartAges): StartStep {
  const there = startCheck(fleet, w.name, p.to ?? '');
  // It belongs nowhere, so no gate lets it through where it is to go: that node's word is not awaited.
  const isAwaited = there.kind === 'elsewhere' && there.starting?.awaits !== undefined;
  const check = isAwaited ? startCheck(fleet, w.name, '') : there;
  const refused = startRefusal('place', placeFacts(w, check, fleet, ages));
  if (refused !== undefined) return seenStep(w, check, refused, ages);
  const { to, why } = p;
  return to === undefined
    ? { workload: w, do: 'no-room', why, held: { text: why } }
    : { workload: w, do: 'place', to, why };
}

/** Looks at every node before the start. */
function owedStep(w: WorkloadRecord, { node }: Assignment, fleet: Fleet, ages: StartAges): StartStep {
  const check = startCheck(fleet, w.name, node);
  const retryInMs = (): number => {
    const attempt = w.start?.attempt ?? 0;
    return attempt === 0 ? 0 : retryAfterMs(attempt) - ages.of(retry(w));
  };
  const refused = startRefusal('order', {
    ...placeFacts(w, check, fleet, ages),
    out: () => whyNotStart(fleet, node),
    retryInMs,
  });
  if (refused === undefined) return { workload: w, do: 'start', to: node, why: 'Nothing stands against it.' };
  switch (refused.code) {
    case 'OUT_OF_SERVICE':
      return { ...ownNode(w, node, refused.why, fleet, ages), code: refused.code };
    case 'RETRY':
      return { workload: w, do: 'wait', ...refused, leftMs: Math.max(0, retryInMs()) };
    case 'SILENT':
    case 'STARTS_ELSEWHERE': {
      const held = ages.of(word(w)) <= ALARM_AFTER_MS ? 'young' : { text: refused.why };
      return { workload: w, do: 'wait', ...refused, held, ...gateLeft(w, check, refused, ages) };
    }
    default:
      return seenStep(w, check, refused, ages);
  }
}

/** It was seen: the registry follows, or it is held where that cannot be. */
function seenStep(w: WorkloadRecord, check: StartCheck, refused: StartRefusal, ages: StartAges): StartStep {
  if (check.kind === 'elsewhere' && refused.code === 'RUNS_ELSEWHERE')
    return { workload: w, do: 'correct', ...refused, seen: check };
  if (check.kind === 'elsewhere' && refused.code === 'RUNS_ON_THE_DEAD') {
    const text = `It is reported running on ${check.node}, which counts as powered off or is not enrolled: it is started nowhere until that is settled.`;
    return { workload: w, do: 'hold', ...refused, held: { text } };
  }
  return { workload: w, do: 'wait', ...refused, ...gateLeft(w, check, refused, ages) };
}

/** How long it is waited for the gate of another node, which is only starting it; absent: for more than that. */
function gateLeft(w: WorkloadRecord, check: StartCheck, { code }: StartRefusal, ages: StartAges): { leftMs?: number } {
  if (code !== 'STARTS_ELSEWHERE' || check.kind !== 'elsewhere' || check.starting?.awaits !== undefined) return {};
  return { leftMs: Math.max(0, GATE_MS - ages.of(atGate(w, check))) };
}

/** Its node is not in service: a lost one moves after a while, when the node itself says that it does not run there. */
function ownNode(w: WorkloadRecord, node: string, out: string, fleet: Fleet, ages: StartAges): StartStep {
  const step = ownNodeStep({
    ...{ workload: w, node, why: out, own: fleet.nodes.get(node)?.value, report: fleet.reports.get(node) },
    waitedMs: ages.of(awaitsNode(w)),
    serving: () => serving(fleet),
    startsByItself: startsByItself(fleet, node, w),
  });
  if (step.do !== 'wait') return { workload: w, ...step, held: { text: step.why } };
  return { workload: w, do: 'wait', why: `${node} is out of service: ${out}.`, leftMs: step.leftMs, held: 'young' };
}

const placeFacts = (
  workload: WorkloadRecord,
  check: StartCheck,
  fleet: Fleet,
  ages: StartAges,
): StartQuestions['place'] => ({
  ...{ workload, check },
  mayFollow: (seenOn) => mayFollow(fleet, seenOn),
  leftForMs: () => ages.of(left(workload)),
  startingForMs: () => (check.kind === 'elsewhere' ? ages.of(atGate(workload, check)) : 0),
});

/** Where it goes, or what stands against that still, and is told in the place of it. */
function switched(s: StartStep, place: Placement | undefined, fleet: Fleet): StartStep {
  if (place?.to === undefined) return s;
  const refused = replaceRefusal(fleet, s.workload, place.to);
  if (refused === undefined) return { ...s, to: place.to };
  const why = `${s.why} ${refused.why}`;
  return { ...s, do: 'hold', why, code: refused.code, held: { text: why } };
}

/** One of which it cannot be said whether it serves does not. */
const serving = perFleet((fleet: Fleet): Serving => {
  const members = eachRecord(fleet.nodes.list, aboutNode, (e) => (e.value.status === 'Allocated' ? [e] : []));
  const inService = eachRecord(members.made, aboutNode, ({ key }) => (whyOut(fleet, key) === undefined ? [key] : []));
  return { members: members.made.length + members.failed.length, inService: inService.made.length };
});

/** The fleet once these have been assigned. */
function after(fleet: Fleet, steps: readonly StartStep[]): { fleet: Fleet; failed: readonly FailRecord[] } {
  const { made: changed, failed } = eachRecord(
    steps,
    ({ workload }) => aboutIt(workload),
    (s) => {
      const event = assigning(s, fleet);
      const entry = fleet.workloads.get(s.workload.name);
      const value = event && entry && workloadAfter(entry.value, event);
      return entry === undefined || value === undefined ? [] : [[entry.key, { ...entry, value }] as const];
    },
  );
  return { fleet: { ...fleet, workloads: fleet.workloads.with(new Map(changed)) }, failed };
}

/** Why it is to be started: the move that took it away, the incident that took it from its node, or nobody's in particular. */
const causeOf = (w: WorkloadRecord, fleet: Fleet): string =>
  w.move === undefined ? (causes(fleet).get(w.name) ?? 'unassigned') : `move:${w.move.cause}`;

/** Workload → the incident that took it from its node, while it does not run elsewhere. */
const causes = perFleet(
  (fleet: Fleet): ReadonlyMap<string, string> =>
    // Of two the first counts, and in a map the last.
    new Map(taken(fleet).made.toReversed()),
);

/** The same in the order of the incidents. */
export const taken = perFleet(({ incidents }: Fleet): Decided<[workload: string, cause: string]> =>
  eachRecord(incidents.list, aboutNode, ({ value: i }) => {
    if (i.phase !== 'recovering' && i.phase !== 'recovered') return [];
    return i.recovery.flatMap((r): [string, string][] =>
      r.state === 'running' ? [] : [[r.workload, `${INCIDENT}${i.id}`]],
    );
  }),
);

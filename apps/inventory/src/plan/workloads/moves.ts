import { waitsForMoves, type JobRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { quietPhases } from '#domain/incident/phases.js';
import { jobAfter } from '#domain/job/changes.js';
import { isFailing, START_FAILED } from '#domain/workload/failed-starts.js';
import { isStopped } from '#domain/workload/owed-start.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Ages } from '../../snapshot/ages.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import {
  aboutJob,
  aboutNode,
  aboutWorkload,
  allIntents,
  decideTogether,
  eachMade,
  eachRecord,
} from '../each-record.js';
import type { ChangeJob, ChangeNode, ChangeWorkload, FailRecord, Intent } from '../intent.js';
import { beginning, decideMoves, notEmptyBecause, type MovePlan } from './decide-moves.js';
import { diedBefore } from './died-before.js';
import { candidateNodes } from './candidate-nodes.js';
import { unheardBefore } from './start-check.js';
import { ALARM_AFTER_MS } from './start-steps.js';

/** Of a node that is to be emptied: something hinders it. */
type MoveCondition = `stuck/${string}`;

/** Nodes that are to be emptied, and how far each is. */
export interface MovesView {
  /** Node → cause of the moves away from it. */
  leaving: ReadonlyMap<string, string>;
  moving: readonly WorkloadRecord[];
  plan: MovePlan;
  /** Node → what stands in the way of its being empty, where something does. */
  hindered: ReadonlyMap<string, readonly string[]>;
}

/**
 * Empties nodes: those that are being drained, those of a job that was ordered with `force` and waits for it, and
 * those that stay DEGRADED where the policy says so, until they are heard again on all of their networks. And takes from
 * a node what that does not get started. It begins the moves, and says when a node is empty; stopping, placing and starting
 * are done by those who always do it.
 */
export const moves: Concern<MoveCondition> = {
  isKnown: ({ live }) => live,
  conditions: (fleet) => {
    const { made, failed } = stuck(fleet);
    return { holds: [...made.keys()].map(isStuck), failed };
  },
  plan: (fleet, ages): Intent[] => {
    const { begin, release } = view(fleet).plan;
    return [
      ...view(fleet).failed,
      ...begin.map((b) => beginMove(b, fleet)),
      ...release.map(releaseFrom),
      ...allIntents(
        eachMade(undrained(fleet), aboutNode, ({ value: n }) =>
          hindersDrain(n, fleet) === undefined ? [noteDrained(n)] : [],
        ),
      ),
      ...allIntents(
        eachMade(waiting(fleet), aboutJob, ({ value: job }) =>
          afterMoves(job, fleet) === undefined ? [] : [noteMoved(job)],
        ),
      ),
      // A workload that could not be judged may stand in the way anywhere.
      ...alarmIntents(fleet, ['drain-stuck'], wanted(fleet, ages), () => stuck(fleet).failed.length === 0),
    ];
  },
};

/** Undefined: a view has a gap, and nothing is begun. */
export const movesView = (fleet: Fleet): MovesView | undefined =>
  fleet.live ? { ...view(fleet), hindered: stuck(fleet).made } : undefined;

const view = perFleet((fleet: Fleet): Omit<MovesView, 'hindered'> & { failed: readonly FailRecord[] } => {
  const leaving = new Map<string, string>();
  for (const [node, step] of fleet.degradedSteps()) if (step === 'drain') leaving.set(node, 'degraded');
  for (const { key } of draining(fleet).made) leaving.set(key, 'drain');
  const jobs = eachMade(waiting(fleet), aboutJob, ({ key, value: { nodes } }) =>
    nodes.map((node) => [node, `job:${key}`] as const),
  );
  for (const [node, cause] of jobs.made) leaving.set(node, cause);
  // Nothing is made of those that stay: they are nearly all.
  const failing = eachRecord(fleet.workloads.list, aboutWorkload, (e) => (isFailing(e.value) ? [e] : []));
  const moving = eachRecord(fleet.workloads.list, aboutWorkload, (e) => (e.value.move === undefined ? [] : [e.value]));
  const isIdle = leaving.size === 0 && failing.made.length === 0;
  const room = isIdle ? { made: [], failed: [] } : candidateNodes(fleet);
  const { made: plan, failed } = decideTogether(fleet.workloads.list, aboutWorkload, (some) =>
    decideMoves({
      ...{ leaving, workloads: some.map((e) => e.value), candidates: room.made, now: fleet.wallMs },
      reported: (node) => reported(fleet, node),
      isInIncident: (node) => isInIncident(fleet, node),
      unheard: (workload) =>
        unheardBefore(fleet, workload, fleet.workloads.get(workload)?.value.assignment?.node ?? ''),
    }),
  );
  return {
    leaving,
    moving: moving.made,
    plan,
    failed: [...draining(fleet).failed, ...jobs.failed, ...failing.failed, ...moving.failed, ...room.failed, ...failed],
  };
});

const draining = perFleet(({ nodes }: Fleet) =>
  eachRecord(nodes.list, aboutNode, (e) => (e.value.cordon?.drain === true ? [e] : [])),
);

/** Those of which it has not been noted that everything has left them. */
const undrained = (fleet: Fleet) =>
  eachMade(draining(fleet), aboutNode, (e) => (e.value.cordon?.drained === undefined ? [e] : []));

const waiting = perFleet(({ jobs }: Fleet) =>
  eachRecord(jobs.list, aboutJob, (e) => (waitsForMoves(e.value) ? [e] : [])),
);

/** Node → what stands in the way. What was found out about a node already says more than that it is not empty. */
const stuck = perFleet((fleet: Fleet): { made: ReadonlyMap<string, readonly string[]>; failed: FailRecord[] } => {
  const { plan, moving, failed } = view(fleet);
  const found = new Map<string, readonly string[]>(plan.stuck);
  const leaves = new Set(moving.filter((w) => w.assignment?.node === w.move?.from).map((w) => w.move?.from));
  const add = (node: string, why: string | undefined): void => {
    if (why !== undefined && !found.has(node) && !leaves.has(node)) found.set(node, [why]);
  };
  const undone = eachMade(undrained(fleet), aboutNode, ({ value: n }) => {
    add(n.name, hindersDrain(n, fleet));
    return [];
  });
  const held = eachMade(waiting(fleet), aboutJob, ({ value: { nodes } }) => {
    if (on(nodes, fleet).length === 0) for (const node of nodes) add(node, notFree(node, fleet));
    return [];
  });
  return { made: found, failed: [...failed, ...undone.failed, ...held.failed] };
});

const isStuck = (node: string): MoveCondition => `stuck/${node}`;

const wanted = (fleet: Fleet, ages: Ages<MoveCondition>): WantedAlarm[] =>
  [...stuck(fleet).made]
    .filter(([node]) => ages.of(isStuck(node)) >= ALARM_AFTER_MS)
    .map(([subject, why]) => ({
      ...{ code: 'drain-stuck', subject, severity: 'warning' },
      message: `${
        on([subject], fleet).length > 0
          ? 'Its workloads cannot all be moved away.'
          : 'Nothing is assigned to it any more, and it does not count as empty yet.'
      } ${why.slice(0, 5).join(' ')}`,
    }));

function beginMove(b: MovePlan['begin'][number], { wallMs }: Fleet): ChangeWorkload {
  const isFailed = b.move.cause === START_FAILED;
  return {
    ...{ do: 'change-workload', key: b.workload, about: { workload: b.workload }, told: 'stopping' },
    reason: `It is to move to ${b.move.to}.`,
    decide: () => beginning(b, wallMs),
    log: {
      level: isFailed ? 'warn' : 'debug',
      facts: { workload: b.workload, ...b.move },
      message: isFailed ? 'workload was not started, and goes elsewhere' : 'workload begins to move',
    },
  };
}

const releaseFrom = ({ workload, node }: MovePlan['release'][number]): ChangeWorkload => ({
  ...{ do: 'change-workload', key: workload, about: { workload }, told: 'cleared' },
  reason: 'It shall not run, and does not.',
  decide: (now) => (isStopped(now) ? { kind: 'cleared', from: node } : undefined),
});

const hindersDrain = (n: NodeRecord, fleet: Fleet): string | undefined =>
  notEmptyBecause(n, on([n.name], fleet), reported(fleet, n.name));

/** The view may miss what was assigned a moment ago: a full read alone can say that nothing is there. */
const noteDrained = ({ name, cordon }: NodeRecord): ChangeNode => ({
  ...{ do: 'change-node', key: name, about: { node: name }, reads: { workloads: true } },
  reason: 'Everything has left it.',
  decide: (now, { fleet }) => {
    if (now.cordon?.drain !== true || now.cordon.drained !== undefined || now.cordon.at !== cordon?.at)
      return undefined;
    if (hindersDrain(now, fleet) !== undefined) return undefined;
    return { ...now, cordon: { ...now.cordon, drained: fleet.wallMs } };
  },
});

/** The same: nor may it show yet that a node was powered off. */
const noteMoved = ({ id, nodes }: JobRecord): ChangeJob => ({
  ...{ do: 'change-job', key: id, about: { job: id }, reads: { workloads: true, nodes, incidents: nodes } },
  reason: 'What has still to leave its nodes has changed.',
  decide: (now, { fleet }) => afterMoves(now, fleet),
});

/**
 * The job's list of what has still to leave; none: workers may take it. It ends where it would find a node dead.
 * Undefined: it stays as it is.
 */
function afterMoves(job: JobRecord, fleet: Fleet): JobRecord | undefined {
  if (!waitsForMoves(job)) return undefined;
  const off = dead(job, fleet);
  if (off !== undefined) {
    const why = `${off} was powered off before it began: order it again when it serves`;
    return jobAfter(job, { kind: 'called-off', by: 'muster', why, at: fleet.wallMs });
  }
  const moving = on(job.nodes, fleet).map((w) => w.name);
  if (moving.length === 0 && job.nodes.some((name) => notFree(name, fleet) !== undefined)) return undefined;
  return moving.sort().join() === job.moving?.join() ? undefined : { ...job, moving };
}

const dead = (job: JobRecord, { nodes }: Fleet): string | undefined =>
  diedBefore(
    job,
    job.nodes.flatMap((name) => nodes.get(name)?.value ?? []),
  );

/** Empty, and nothing is under way against its power: the incident that emptied it may have only just done so. */
function notFree(name: string, fleet: Fleet): string | undefined {
  const node = fleet.nodes.get(name)?.value;
  if (node === undefined) return undefined;
  const incident = fleet.incidents.get(name)?.value;
  return (
    notEmptyBecause(node, [], reported(fleet, name)) ??
    (incident && fleet.quarantine.reasonOf(incident)) ??
    (isInIncident(fleet, name) ? 'It has an open incident.' : undefined)
  );
}

const on = (nodes: readonly string[], fleet: Fleet): WorkloadRecord[] =>
  nodes.flatMap((node) => assignedTo(fleet, node));

function reported({ reports }: Fleet, node: string): ReadonlySet<string> | undefined {
  const workloads = reports.get(node)?.workloads;
  return workloads && new Set(workloads.map((w) => w.name));
}

function isInIncident({ incidents }: Fleet, node: string): boolean {
  const phase = incidents.get(node)?.value.phase;
  return phase !== undefined && !quietPhases.includes(phase);
}

import { MusterError, type Assignment, type Report, type WorkloadRecord } from '#contracts';
import { LATE_LIST_MS } from '#domain/workload/start-decision.js';
import { mayStartByItself } from '#domain/workload/ungated.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { allIntents, eachMade, eachRecord, type Decided } from '../each-record.js';
import type { ChangeWorkload, CreateJob, Intent } from '../intent.js';
import { orderOutcome, stopJob, type OrderOutcome } from './recover-job.js';
import { retryLeftMs, runsThere, STILL_RUNS_MS, stopStep, type StopFacts, type StopStep } from './stop-step.js';

/** A workload that shall not run, or not where it is, and is not yet stopped. */
export interface StopView {
  workload: WorkloadRecord;
  step: StopStep;
  /** Until a stop that failed is tried again, ms. */
  leftMs: number;
  /** Its node does not say what it runs. */
  isSilent: boolean;
}

/**
 * Of a workload, its generation and its try. `seen`: its node runs it, and no stop is owed. `retry`: the try before has
 * failed. `named`: its job has read it back as stopped, and its node still names it. `absent`: it is to leave its node,
 * whatever the try, and that says that it does not run there.
 */
type StopCondition = `${'seen' | 'retry' | 'named'}/${string}/${number}/${number}` | `absent/${string}/${number}`;

interface Stopping {
  workload: WorkloadRecord;
  at: Assignment;
  /** Its node's own fresh report. */
  report: Report | undefined;
  /** What the job says that it was handed to; undefined: there is none, or it has not ended. */
  outcome: OrderOutcome | undefined;
  /** Its node may start it without asking. */
  isUngated: boolean;
}

/**
 * Every workload that shall not run, or is to leave its node: stopped there, and read back. Its alarm is raised with
 * those of the starts.
 */
export const stops: Concern<StopCondition> = {
  conditions: (fleet) => {
    const { made, failed } = eachMade(stopping(fleet), aboutIt, (s) => [conditionsOf(s)]);
    return { holds: made.flatMap((c) => c.holds), unknown: made.flatMap((c) => c.unknown), failed };
  },
  plan: (fleet, ages) => {
    return allIntents(eachMade(stopping(fleet), aboutIt, (s) => intents(s, fleet, ages)));
  },
};

/** How far each is, by the ages of who stops them. */
export const stopViews = (fleet: Fleet, ages: Ages<StopCondition>): readonly StopView[] =>
  eachMade(stopping(fleet), aboutIt, (s): StopView[] => {
    const facts = factsOf(s, fleet, ages);
    const step = stopStep(facts);
    return step === 'done'
      ? []
      : [{ workload: s.workload, step, leftMs: retryLeftMs(facts), isSilent: s.report === undefined }];
  }).made;

const stopping = perFleet(({ workloads, jobs, reports, nodes }: Fleet): Decided<Stopping> =>
  eachRecord(
    workloads.list,
    ({ key }) => ({ workload: key }),
    ({ value: workload }): Stopping[] => {
      const { assignment: at, desired, stop, name } = workload;
      if (at === undefined || (desired !== 'stopped' && stop === undefined)) return [];
      const job = stop?.job === undefined ? undefined : jobs.get(stop.job)?.value;
      const isUngated = mayStartByItself(nodes.get(at.node)?.value, name);
      const outcome = job && orderOutcome('stop', job, at.node, name);
      return [{ workload, at, report: reports.get(at.node), outcome, isUngated }];
    },
  ),
);

const aboutIt = ({ workload }: Stopping): About => ({ workload: workload.name });

function conditionsOf(s: Stopping): { holds: StopCondition[]; unknown: StopCondition[] } {
  const { stop } = s.workload;
  const runs = runsThere(s);
  const isAsked = isNodeAsked(s);
  return {
    holds: [
      ...(stop === undefined && runs ? [conditionOf('seen')(s)] : []),
      ...(stop !== undefined && stop.attempt > 0 ? [conditionOf('retry')(s)] : []),
      ...(isAsked && runs ? [conditionOf('named')(s)] : []),
      // A silence ends it: what was begun meanwhile would not be in the look before.
      ...(stop !== undefined && !runs && s.report?.workloads !== undefined ? [absent(s)] : []),
    ],
    unknown: !isAsked || s.report?.workloads === undefined ? [conditionOf('named')(s)] : [],
  };
}

const conditionOf =
  (kind: 'seen' | 'retry' | 'named') =>
  ({ workload: w }: Stopping): StopCondition =>
    `${kind}/${w.name}/${w.generation}/${w.stop?.attempt ?? 0}`;

const absent = ({ workload: w }: Stopping): StopCondition => `absent/${w.name}/${w.generation}`;

/** Where it is to be started elsewhere, its node's own report must agree with the word of the job. */
const isNodeAsked = ({ workload, outcome }: Stopping): boolean => outcome?.done === true && workload.move !== undefined;

const factsOf = (s: Stopping, { settings }: Fleet, ages: Ages<StopCondition>): StopFacts => ({
  workload: s.workload,
  report: s.report,
  seenForMs: ages.of(conditionOf('seen')(s)),
  sinceFailureMs: ages.of(conditionOf('retry')(s)),
  // A list is of a look of so long ago, and its report is as old as the freshness at most.
  isAbsentLongEnough: ages.of(absent(s)) > LATE_LIST_MS + settings.detection.freshness,
  isUngated: s.isUngated,
});

function intents(s: Stopping, fleet: Fleet, ages: Ages<StopCondition>): Intent[] {
  switch (stopStep(factsOf(s, fleet, ages))) {
    case 'owe':
      return [owe(s)];
    case 'give':
      return [give(s)];
    case 'follow':
      return follow(s, fleet, ages);
    case 'read-back':
      return [readBack(s)];
    case 'wait':
    case 'done':
      return [];
  }
}

const change = ({ workload: { name } }: Stopping): Pick<ChangeWorkload, 'do' | 'key' | 'about'> => ({
  do: 'change-workload',
  key: name,
  about: { workload: name },
});

const owe = (s: Stopping): ChangeWorkload => ({
  ...change(s),
  told: 'stopping',
  reason: 'It shall not run, and does.',
  decide: () => ({ kind: 'stop-needed', generation: s.at.generation }),
});

/**
 * First the workload names the job, then the job is written, so that it is never written twice. A crash in between leaves
 * a workload that names a job which is not there: whoever follows it writes that one.
 */
const give = (s: Stopping): ChangeWorkload => ({
  ...change(s),
  reason: 'Its stop is due.',
  decide: (_now, { uuid }) => ({ kind: 'stop-given', job: uuid, generation: s.at.generation }),
  followedBy: (handed, { uuid }) => [create(uuid, handed)],
});

const create = (id: string, w: WorkloadRecord): CreateJob => ({
  ...{ do: 'create-job', key: id, about: { workload: w.name } },
  reason: 'The stop of a workload was handed to it.',
  decide: ({ fleet, token }) => stopJob(id, w, token, fleet.wallMs),
});

/** Where its view is only behind, the job is there. */
const createAfterAll = (id: string, w: WorkloadRecord): CreateJob => ({
  ...create(id, w),
  reads: { jobs: [id] },
  decide: ({ fleet, token }) => {
    if (fleet.jobs.unreadable.has(id))
      throw new MusterError('RECORD_UNREADABLE', `${w.name} cannot be stopped: nobody can read its job ${id}`, {
        job: id,
      });
    return fleet.jobs.has(id) ? undefined : stopJob(id, w, token, fleet.wallMs);
  },
});

/** Nothing of it runs there: what moves has left, what shall not run is stopped. */
const readBack = (s: Stopping): ChangeWorkload => ({
  ...change(s),
  told: s.workload.move === undefined ? 'stopped' : 'cleared',
  reason: 'Nothing of it runs there.',
  decide: (now) => ({ kind: now.move === undefined ? 'stopped' : 'left', generation: s.at.generation }),
});

function follow(s: Stopping, fleet: Fleet, ages: Ages<StopCondition>): Intent[] {
  const { workload: w, outcome } = s;
  const job = w.stop?.job;
  if (job === undefined) return [];
  if (fleet.jobs.get(job) === undefined) return [createAfterAll(job, w)];
  if (outcome === undefined) return [];
  if (!outcome.done) return [failed(s, job, outcome.why, outcome.seen)];
  switch (wordOfItsNode(s, ages)) {
    case 'agrees':
      return isYetToVouch(s, fleet) ? [] : [readBack(s)];
    case 'disagrees':
      return [failed(s, job, 'It was read back as stopped, and is reported still.', outcome.seen)];
    case 'unknown':
      return [];
  }
}

/**
 * What has left is assigned nowhere: that it was stopped there stands in no record then. So the node's own record says first
 * that its boot does not start it any more.
 */
const isYetToVouch = ({ workload: { name, move }, at }: Stopping, { nodes }: Fleet): boolean =>
  move !== undefined && nodes.get(at.node)?.value.ungated?.includes(name) === true;

const failed = (s: Stopping, job: string, why: string, seen: number | undefined): ChangeWorkload => ({
  ...change(s),
  reason: why,
  decide: () => ({ kind: 'stop-failed', job, why, seen }),
});

/** What the node says where its job has read it back as stopped. */
function wordOfItsNode(s: Stopping, ages: Ages<StopCondition>): 'agrees' | 'disagrees' | 'unknown' {
  if (!isNodeAsked(s)) return 'agrees';
  if (s.report?.workloads === undefined) return 'unknown';
  if (!runsThere(s)) return 'agrees';
  return ages.of(conditionOf('named')(s)) >= STILL_RUNS_MS ? 'disagrees' : 'unknown';
}

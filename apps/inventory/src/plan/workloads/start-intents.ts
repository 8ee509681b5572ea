import { MusterError, type Assignment, type WorkloadRecord } from '#contracts';
import { INCIDENT } from '#domain/workload/causes.js';
import type { About } from '../../conductor/task.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { decideTogether, eachRecord, intentsOfEach } from '../each-record.js';
import type { ChangeWorkload, ChangeWorkloads, CreateJob, Intent } from '../intent.js';
import { awaitedStarts, type StartNews } from './awaited-starts.js';
import { groupStarts, orderOutcome, recoverJob, type OrderOutcome, type StartGroup } from './recover-job.js';
import { assigning, type StartStep } from './start-steps.js';

/**
 * What is written of a look: of each workload one change at a time. What its report says comes first, and then what the
 * step makes of it.
 */
export function startIntents(fleet: Fleet, steps: readonly StartStep[]): Intent[] {
  const { awaited, news } = awaitedStarts(fleet);
  const changed = eachRecord(
    steps,
    (s) => ({ workload: s.workload.name }),
    (s): [string, ChangeWorkload[]][] => [[s.workload.name, changesBy(s, fleet)]],
  );
  const changes = new Map(changed.made);
  const known = new Set(news.map((n) => n.workload.name));
  const isNoted = (w: WorkloadRecord): boolean => known.has(w.name);
  const due = steps.filter((s) => s.do === 'start' && !isNoted(s.workload)).map((s) => s.workload);
  const handed = awaited.filter((w) => w.start?.job !== undefined && !isNoted(w));
  const groups = decideTogether(due, aboutIt, groupStarts);
  return [
    ...changed.failed,
    ...groups.failed,
    ...news.map((n) => noted(n, changes.get(n.workload.name) ?? [])),
    ...steps.filter((s) => !isNoted(s.workload)).flatMap((s) => changes.get(s.workload.name) ?? []),
    ...groups.made.map(give),
    ...follow(handed, fleet),
  ];
}

const aboutIt = ({ name: workload }: WorkloadRecord): About => ({ workload });

const change = ({ name }: WorkloadRecord): Pick<ChangeWorkload, 'do' | 'key' | 'about'> => ({
  do: 'change-workload',
  key: name,
  about: { workload: name },
});

/** By the node's own report. */
const noted = ({ workload: w, event }: StartNews, then: readonly Intent[]): ChangeWorkload =>
  event.kind === 'started'
    ? {
        ...change(w),
        ...(w.start !== undefined && { told: 'running' }),
        reason: 'Its node reports it.',
        decide: () => event,
        followedBy: () => [...then],
      }
    : {
        ...change(w),
        told: 'held',
        reason: 'Its node has rebooted, and does not report it.',
        decide: (now) => (now.boot === w.boot && now.generation === w.generation ? event : undefined),
      };

/** What a step writes of its workload alone. */
function changesBy(step: StartStep, fleet: Fleet): ChangeWorkload[] {
  const { workload: w, held } = step;
  const event = assigning(step, fleet);
  if (event !== undefined)
    return [{ ...change(w), told: 'assigned', reason: step.why, decide: () => event, ...logOf(step, event) }];
  // Where there is room for it elsewhere, it goes there as soon as that is known not to run it.
  if (held === undefined || held === 'young' || step.do === 'elsewhere' || w.held === held.text) return [];
  const { text } = held;
  return [
    {
      ...change(w),
      // The words of a hold change with figures: one that is held already is no news.
      ...(w.held === undefined && { told: 'held' }),
      reason: text,
      decide: (now) => (now.generation === w.generation ? { kind: 'held', why: text } : undefined),
    },
  ];
}

function logOf({ workload: w, why }: StartStep, event: ReturnType<typeof assigning>): Pick<ChangeWorkload, 'log'> {
  if (event?.kind === 'assigned') {
    // Of a fencing it is a decision; a new workload, or one that moves, is everyday.
    const level = event.cause.startsWith(INCIDENT) ? 'info' : 'debug';
    return { log: { level, facts: { workload: w.name, node: event.to, why }, message: 'workload placed' } };
  }
  if (event?.kind !== 'corrected') return {};
  const message = 'workload was seen running elsewhere: registry corrected';
  return { log: { level: 'warn', facts: { workload: w.name, node: event.seenOn }, message } };
}

/**
 * Hands the starts to a new job: first the workloads name it, then it is written, so that it is never written twice. A
 * crash in between leaves workloads that name a job which is not there: whoever follows them writes that one.
 */
const give = (g: StartGroup): ChangeWorkloads => {
  const generations = new Map(g.workloads.map((w) => [w.name, w.assignment?.generation ?? -1]));
  return {
    ...{ do: 'change-workloads', keys: [...generations.keys()], about: { node: g.node } },
    reason: 'Nothing stands against their start.',
    decide: (now, { uuid }) => ({ kind: 'start-given', job: uuid, generation: generations.get(now.name) ?? -1 }),
    followedBy: (handed, { uuid }): CreateJob[] => [
      {
        ...{ do: 'create-job', key: uuid, about: { node: g.node } },
        reason: 'Starts of workloads were handed to it.',
        decide: ({ fleet, token }) => recoverJob(uuid, { ...g, workloads: [...handed] }, token, fleet.wallMs),
      },
    ],
  };
};

/** What comes of the jobs that starts were handed to. */
function follow(handed: readonly WorkloadRecord[], fleet: Fleet): Intent[] {
  const lost = new Map<string, CreateJob>();
  const ended = intentsOfEach(handed, aboutIt, (w): Intent[] => {
    const { name, assignment: at, start } = w;
    const id = start?.job;
    if (id === undefined || at === undefined) return [];
    const job = fleet.jobs.get(id)?.value;
    if (job === undefined) {
      lost.set(`${id}/${at.node}`, lost.get(`${id}/${at.node}`) ?? createAfterAll(id, at.node, start?.cause ?? '', w));
      return [];
    }
    const outcome = orderOutcome('start', job, at.node, name);
    if (outcome === undefined) return [];
    return [outcome.done ? started(w, at, fleet.reports.get(at.node)?.bootId) : failed(w, id, outcome)];
  });
  return [...ended, ...lost.values()];
}

const started = (w: WorkloadRecord, { generation }: Assignment, boot: string | undefined): ChangeWorkload => ({
  ...{ ...change(w), told: 'running', reason: 'Its job has started it.' },
  decide: () => ({ kind: 'started', generation, boot }),
});

const failed = (w: WorkloadRecord, job: string, { why, seen }: OrderOutcome): ChangeWorkload => ({
  ...{ ...change(w), told: 'held', reason: why },
  decide: () => ({ kind: 'start-failed', job, why, seen }),
});

/**
 * The conductor before this one named the job and went down before it wrote it. Where its view is only behind, the job is
 * there.
 */
const createAfterAll = (id: string, node: string, cause: string, w: WorkloadRecord): CreateJob => ({
  ...{ do: 'create-job', key: id, about: { workload: w.name }, reads: { jobs: [id] } },
  reason: 'Starts of workloads were handed to it.',
  decide: ({ fleet, token }) => {
    if (fleet.jobs.unreadable.has(id))
      throw new MusterError('RECORD_UNREADABLE', `${w.name} cannot be started: nobody can read its job ${id}`, {
        job: id,
      });
    const same = fleet.workloads.list
      .map((e) => e.value)
      .filter((x) => x.start?.job === id && x.assignment?.node === node);
    if (fleet.jobs.has(id) || same.length === 0) return undefined;
    return recoverJob(id, { node, cause, workloads: same }, token, fleet.wallMs);
  },
});

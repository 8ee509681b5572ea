import { isEndedJob, type JobRecord, type WorkloadOutcome, type WorkloadRecord } from '#contracts';
import { newJob } from '#domain/job/changes.js';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';

/** Workloads of one node that one job starts. A first try takes them together; after a failure each has its own. */
export interface StartGroup {
  node: string;
  cause: string;
  workloads: WorkloadRecord[];
}

export function groupStarts(due: readonly WorkloadRecord[]): StartGroup[] {
  const groups = new Map<string, StartGroup>();
  const ordered = [...due].sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  for (const w of ordered) {
    if (w.assignment === undefined || w.start === undefined) continue;
    const node = w.assignment.node;
    const alone = w.start.attempt > 0 ? w.name : '';
    const key = `${node}/${w.start.cause}/${alone}`;
    const group = groups.get(key) ?? { node, cause: w.start.cause, workloads: [] };
    group.workloads.push(w);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** The job that starts these workloads on their node. It reserves nothing: it must not wait for what runs there. */
export function recoverJob(id: string, g: StartGroup, conductor: number, at: number): JobRecord {
  const names = g.workloads.map((w) => w.name);
  return newJob({
    id,
    kind: 'recover',
    nodes: [g.node],
    desc: `recoverEvent: nodes:[${g.node}] workloads:[${names.join(' ')}]`,
    extraVars: {},
    recover: g.workloads.flatMap((w) =>
      w.assignment === undefined
        ? []
        : [
            {
              workload: w.name,
              generation: w.assignment.generation,
              driver: w.recovery.driver,
              spec: w.recovery.spec,
            },
          ],
    ),
    task: '',
    createdAt: at,
    by: 'muster',
    cause: g.cause,
    conductor,
  });
}

/** The job that stops this workload on its node; undefined: it is assigned nowhere. */
export function stopJob(id: string, w: WorkloadRecord, conductor: number, at: number): JobRecord | undefined {
  const node = w.assignment?.node;
  if (node === undefined) return undefined;
  const job = recoverJob(id, { node, cause: `stop:${w.stop?.cause ?? ''}`, workloads: [w] }, conductor, at);
  return {
    ...job,
    desc: `recoverEvent: nodes:[${node}] stop:[${w.name}]`,
    ...(job.recover && { recover: job.recover.map((task) => ({ ...task, stop: true })) }),
  };
}

/** Why a start or a stop failed, where its job does not say it. */
const NO_REASON = 'The job ended without a word about it.';

export interface OrderOutcome {
  /** It was started, or read back as stopped. */
  done: boolean;
  why: string;
  seen?: number;
}

/** What the job says of the start, or the stop, of one workload on its node. Undefined: the job has not ended. */
export function orderOutcome(
  order: 'start' | 'stop',
  job: JobRecord,
  node: string,
  workload: string,
): OrderOutcome | undefined {
  if (!isEndedJob(job)) return undefined;
  const result = job.results[node];
  const own = result?.workloads?.[workload];
  if (own !== undefined) {
    const done = order === 'start' ? own.started : own.stopped === true;
    return { done, why: own.reason || NO_REASON, ...seenBy(own) };
  }
  // A job that went well has started what it was given; only a word about the workload says that it is stopped.
  const done = order === 'start' && result?.ok === true;
  return { done, why: result?.message || job.error || NO_REASON };
}

const seenBy = ({ seen }: WorkloadOutcome): { seen?: number } => (seen === undefined ? {} : { seen });

/** Before the next try of a failed start or stop. */
const RETRY: RetryPolicy = { firstMs: 1000, growth: 2, mostMs: 30_000 };

/** The same, ms. */
export const retryAfterMs = (attempt: number): number => retryDelayMs(RETRY, attempt);

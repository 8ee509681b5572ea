import { isEndedJob, PERIODIC, RESERVATIONS_KEY, type JobRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';

/** Settled jobs that are kept; older ones live on in events and logs. */
const JOBS_KEPT = 500;
/** Of these, checks that nobody has asked for: there may be thousands a day. */
export const PERIODIC_KEPT = 50;
/** So many more are kept for a while, so that not every new job has all of them looked at. */
const SLACK = 50;

/** Keeps the bucket of jobs from growing for ever. */
export const jobRetention: Concern = {
  plan: (fleet) => {
    const { jobs, nodes, workloads, reservations } = fleet;
    if (jobs.list.length <= JOBS_KEPT + SLACK) return [];
    // A record that is not seen may name any of them.
    if (!nodes.live || !workloads.live || !reservations.live) return [];
    return expendable(
      jobs.list.map((e) => e.value),
      named(fleet),
    ).flatMap(({ id }) => {
      const found = jobs.get(id);
      if (found === undefined) return [];
      const { key, revision } = found;
      return [{ do: 'delete-job' as const, key, revision, about: { job: id }, reason: 'There are newer ones enough.' }];
    });
  },
};

/** What a node was provisioned with is asked for again when it returns; a start or a stop looks for its job's end. */
const named = ({ nodes, workloads, reservations }: Fleet): Set<string | undefined> =>
  new Set([
    ...Object.keys(reservations.get(RESERVATIONS_KEY)?.value.pending ?? {}),
    ...nodes.list.map((e) => e.value.provisioned?.job),
    ...workloads.list.flatMap((e) => [e.value.start?.job, e.value.stop?.job]),
  ]);

/**
 * The oldest of the settled jobs beyond {@link JOBS_KEPT}. Those that a record still names stay and are not counted: in
 * a large fleet they alone are more than that, and would push out all history.
 */
export function expendable(
  jobs: readonly JobRecord[],
  named: ReadonlySet<string | undefined>,
  kept: number = JOBS_KEPT,
): JobRecord[] {
  const done = jobs
    .filter((j) => isEndedJob(j) && j.settled && !named.has(j.id))
    .sort((a, b) => a.createdAt - b.createdAt);
  const own = done.filter((j) => j.cause === PERIODIC);
  const gone = new Set(oldest(own, PERIODIC_KEPT));
  const rest = done.filter((j) => !gone.has(j));
  return [...gone, ...oldest(rest, kept)];
}

const oldest = (jobs: readonly JobRecord[], kept: number): JobRecord[] =>
  jobs.slice(0, Math.max(0, jobs.length - kept));

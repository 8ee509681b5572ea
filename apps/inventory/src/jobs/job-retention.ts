import { isEndedJob, PERIODIC, type JobRecord } from '#contracts';

/** Settled jobs that are kept; older ones live on in events and logs. */
export const JOBS_KEPT = 500;
/** Of these, checks that nobody has asked for: there may be thousands a day. */
export const PERIODIC_KEPT = 50;

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

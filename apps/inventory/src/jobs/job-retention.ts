import { isEndedJob, type JobRecord } from '#contracts';

/** Settled jobs that are kept; older ones live on in events and logs. */
export const JOBS_KEPT = 500;

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
  return done.slice(0, Math.max(0, done.length - kept));
}

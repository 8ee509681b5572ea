import { isEndedJob, type JobRecord } from '#contracts';

/** What stands for a job where its id is not known. */
export type JobLabel = 'active' | 'last';
export const isJobLabel = (id: string): id is JobLabel => id === 'active' || id === 'last';

/** The system began it: a check of a node that has come back, a re-setup, a recovery. */
export const isOfSystem = (job: Pick<JobRecord, 'by'>): boolean => job.by === 'muster';

/**
 * `active`: the newest of somebody's that has not ended, else the newest of the system's, for it holds nodes as well.
 * `last`: the newest of somebody's that has ended; nobody waits for what the system began.
 * @param jobs newest first
 */
export function labelledJob<E extends { value: Pick<JobRecord, 'by' | 'status'> }>(
  label: JobLabel,
  jobs: readonly E[],
): E | undefined {
  const meant = jobs.filter((j) => isEndedJob(j.value) === (label === 'last'));
  return meant.find((j) => !isOfSystem(j.value)) ?? (label === 'active' ? meant[0] : undefined);
}

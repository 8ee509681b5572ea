import { type JobRecord, MusterError } from '#contracts';

/** Lines of the log in a job object; the whole of it is at `/info/logs/{id}`. */
export const LOG_LINES = 5_000;

/** A job as the old clients read it, and what they do not know behind it. */
export function jobObject(job: JobRecord, log: { lines: string[]; before: number }): Record<string, unknown> {
  const { lines, before } = log;
  return {
    desc: job.desc,
    task: job.task,
    status: job.status,
    error: job.error,
    logs: before > 0 ? [`… ${before} lines before, whole at /info/logs/${job.id}`, ...lines] : lines,
    id: job.id,
    created_at: job.createdAt,
    started_at: job.startedAt,
    ended_at: job.endedAt,
    results: job.results,
  };
}

/** The texts for a job that is not there. */
export function jobRefusal(label: string, error: unknown): MusterError {
  const refusal = MusterError.from(error);
  if (refusal.code !== 'JOB_UNKNOWN') return refusal;
  const text =
    label === 'active' || label === 'last'
      ? `info for "${label}" job doesn't exist`
      : `Invalid or empty job label specified: "${label}"`;
  return new MusterError('JOB_UNKNOWN', text, { text }, { cause: error });
}

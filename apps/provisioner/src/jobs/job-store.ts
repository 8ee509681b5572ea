import type { Bus, KvBucket } from '#bus';
import { MusterError, type JobRecord } from '#contracts';
import { isHeldBy, jobAfter, type JobHold } from '#domain/job/changes.js';

/** A worker's hold on one job: every write asks whether it still stands. */
export class JobClaim implements JobHold {
  constructor(
    private readonly jobs: KvBucket<JobRecord>,
    readonly id: string,
    readonly worker: string,
    readonly generation: number,
  ) {}

  /**
   * Writes on top of what stands there. A worker that was overtaken (stopped, then continued) is refused.
   * @throws STALE_TOKEN
   */
  async write(change: (job: JobRecord) => JobRecord | undefined): Promise<JobRecord> {
    const { value } = await this.jobs.mutate(this.id, (current) => {
      const job = current?.value;
      const next = job !== undefined && isHeldBy(job, this) ? change(job) : undefined;
      if (next === undefined)
        throw new MusterError('STALE_TOKEN', `job ${this.id} is no longer this worker's`, {
          job: this.id,
          generation: this.generation,
          current: job?.generation,
        });
      return next;
    });
    if (value === undefined) throw new MusterError('JOB_UNKNOWN', `job ${this.id} is gone`, { job: this.id });
    return value;
  }
}

/**
 * Takes the job as it was seen: Queued, or Running under another generation whose lease this process now holds.
 * Undefined where somebody was faster.
 */
export async function claimJob(
  bus: Bus,
  seen: { id: string; status: JobRecord['status']; generation: number },
  worker: string,
): Promise<{ claim: JobClaim; job: JobRecord } | undefined> {
  const jobs = bus.bucket<JobRecord>('jobs');
  const entry = await jobs.get(seen.id);
  if (entry === undefined) return undefined;
  const job = jobAfter(entry.value, { kind: 'taken', worker, seen, at: bus.clock.wallMs() });
  if (job === undefined) return undefined;
  try {
    await jobs.update(seen.id, job, entry.revision);
  } catch (error) {
    if (MusterError.from(error).code === 'REVISION_CONFLICT') return undefined;
    throw error;
  }
  return { claim: new JobClaim(jobs, seen.id, worker, job.generation), job };
}

/** Why a queued job must not be begun. */
export interface JobRefusal {
  error: string;
  /** Its conductor's token is below this one, which a later conductor had. */
  outranked?: number;
}

/** Ends a job that must not be carried out; undefined: it waits no more. */
export async function refuseJob(bus: Bus, id: string, refusal: JobRefusal): Promise<JobRecord | undefined> {
  const { value, changed } = await bus
    .bucket<JobRecord>('jobs')
    .mutate(id, (now) => now && jobAfter(now.value, { kind: 'refused', ...refusal, at: bus.clock.wallMs() }));
  return changed ? value : undefined;
}

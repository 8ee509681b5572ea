import type { Bus, Entry, KvView } from '#bus';
import { isEndedJob, MusterError, type JobRecord, type NodeResult } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import { jobAfter, type JobEvent } from '#domain/job/changes.js';

const NAME = 'stand-in';

/** Writes job records as a provisioner does, one small step at a time: takes, reports, ends, refuses. */
export class StandInProvisioner {
  private readonly jobs;

  constructor(
    bus: Bus,
    private readonly view: KvView<JobRecord>,
    private readonly dice: Dice,
  ) {
    this.jobs = bus.bucket<JobRecord>('jobs');
  }

  get open(): Entry<JobRecord>[] {
    return this.view.entries().filter((e) => !isEndedJob(e.value));
  }

  /** One step of one open job. @returns false where there was nothing to do, or somebody else was faster */
  async step(o: { failures: boolean }): Promise<boolean> {
    const job = this.dice.maybeOf(this.open);
    return job !== undefined && this.write(job, this.next(job.value, o.failures && this.dice.chance(0.25)));
  }

  /** The next step of each open job, and nothing fails that was not told to. */
  async stepAll(): Promise<void> {
    await Promise.all(this.open.map((job) => this.write(job, this.next(job.value, false))));
  }

  private next(job: JobRecord, fails: boolean): JobRecord {
    const at = Date.now();
    if (job.status === 'Queued')
      return fails && this.dice.chance(0.3)
        ? after(job, { kind: 'refused', error: 'refused', at })
        : after(job, { kind: 'taken', worker: NAME, seen: job, at });
    const end = { by: { worker: NAME, generation: job.generation }, worked: true, at };
    if (job.cancel) return after(job, { kind: 'failed', error: `cancelled by ${job.cancel.by}`, results: {}, ...end });
    if (Object.keys(job.results).length === 0) return { ...job, task: 'site', results: resultsOf(job, !fails) };
    const { results } = job;
    return Object.values(results).every((r) => r.ok)
      ? after(job, { kind: 'completed', results, ...end })
      : after(job, { kind: 'failed', error: 'a task failed', results, ...end });
  }

  private async write(job: Entry<JobRecord>, next: JobRecord): Promise<boolean> {
    try {
      await this.jobs.update(job.key, next, job.revision);
      return true;
    } catch (e) {
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
      return false;
    }
  }
}

function after(job: JobRecord, event: JobEvent): JobRecord {
  const next = jobAfter(job, event);
  if (next === undefined) throw new Error(`${event.kind} is refused: ${job.id} is ${job.status}`);
  return next;
}

function resultsOf(job: JobRecord, ok: boolean): JobRecord['results'] {
  const result: NodeResult =
    job.kind === 'check'
      ? {
          ok,
          step: 'check',
          ...(ok && { check: { findings: [{ service: 'agent', result: 'ok', why: '' }], checksum: 'sum' } }),
        }
      : { ok, step: 'site', ...(ok && { checksum: 'sum' }) };
  return Object.fromEntries([...job.nodes, ...(job.addresses ?? [])].map((n) => [n, result]));
}

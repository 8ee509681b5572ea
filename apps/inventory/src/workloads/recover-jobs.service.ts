import { Injectable } from '@nestjs/common';
import { MusterError, type JobRecord } from '#contracts';
import type { TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';

/** Writes the jobs that workloads were handed to. The workload names its job first, so each is written once, whoever does. */
@Injectable()
export class RecoverJobs {
  constructor(private readonly store: InventoryStore) {}

  /** @returns whether it was written; false: it is there already */
  async write(c: Pick<TaskRun, 'check'>, job: JobRecord): Promise<boolean> {
    c.check();
    try {
      await this.store.jobs.bucket.create(job.id, job);
    } catch (e) {
      if (MusterError.from(e).code === 'REVISION_CONFLICT') return false;
      throw e;
    }
    await this.store.bus.emit(
      'job',
      job.id,
      { job: job.id, kind: job.kind, status: job.status, nodes: job.nodes, task: job.task, error: job.error },
      { id: `job.${job.id}.Queued` },
    );
    return true;
  }

  /** As it is now; undefined: it was never written. */
  async find(id: string): Promise<JobRecord | undefined> {
    return this.store.jobs.view.get(id)?.value ?? (await this.store.jobs.bucket.get(id))?.value;
  }
}

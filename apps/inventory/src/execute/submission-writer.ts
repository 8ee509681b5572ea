import { Injectable } from '@nestjs/common';
import { MusterError } from '#contracts';
import { JobsService } from '../jobs/jobs.service.js';
import { OperationsService } from '../operations/operations.service.js';
import type { CancelJob, Moment, SubmitJobs, WantedJob } from '../plan/intent.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { Refusals } from '../snapshot/refusals.js';
import { InventoryStore } from '../store/inventory-store.js';
import type { Right } from './written.js';

/** Asks for the jobs that the conductor itself wants, and calls them off, by the same admission as everybody's. */
@Injectable()
export class SubmissionWriter {
  constructor(
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly operations: OperationsService,
    private readonly refusals: Refusals,
    private readonly jobs: JobsService,
  ) {}

  /** @returns whether any was accepted */
  async write({ wanted, most }: SubmitJobs, at: Moment, c: Right): Promise<boolean> {
    let accepted = 0;
    for (const job of wanted) {
      if (accepted === most) break;
      if (await this.submit(job, at, c)) accepted += 1;
    }
    return accepted > 0;
  }

  private async submit(job: WantedJob, at: Moment, c: Right): Promise<boolean> {
    const { node, kind, cause, services } = job;
    /** The request may wait for its turn: it is decided on what is known then. */
    const now = (): Moment => ({ ...at, fleet: this.fleets.now() });
    try {
      await this.operations.submit(
        { by: 'muster', kind, nodes: [node] },
        {
          cause,
          check: () => c.check(),
          ...(services !== undefined && { services: [...services] }),
          needs: (n) => job.needs(n, now()),
          isAbsent: (on, workload) => on === node && job.isAbsent?.(workload, now()) === true,
        },
      );
      this.refusals.forget(cause, node);
      return true;
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code === 'LEASE_LOST') throw error;
      this.refusals.note(cause, node);
      this.store.bus.log.debug({ node, kind, code: error.code }, `not yet: ${error.message}`);
      return false;
    }
  }

  /** @returns whether it is called off; one that has ended meanwhile, or that is to go on after all, is left alone */
  async cancel(i: CancelJob, at: Moment, c: Right): Promise<boolean> {
    try {
      const job = await this.jobs.cancel(i.key, 'muster', (now) => {
        c.check();
        return i.decide(now, at);
      });
      return job.cancel !== undefined;
    } catch (e) {
      const { code } = MusterError.from(e);
      if (code !== 'BAD_REQUEST' && code !== 'JOB_UNKNOWN') throw e;
      return false;
    }
  }
}

import { Injectable } from '@nestjs/common';
import { isEndedJob, MusterError } from '#contracts';
import { ClaimsService } from '../claims/claims.service.js';
import { OperationsService } from '../operations/operations.service.js';
import { ReservationBook } from '../operations/reservation-book.js';
import type {
  ChangeJob,
  CompleteJob,
  CreateJob,
  DeleteJob,
  ExpireClaim,
  FreeNode,
  Moment,
  SettleJob,
} from '../plan/intent.js';
import { RecoverJobs } from '../workloads/recover-jobs.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { SettlementWriter } from './settlement-writer.js';
import { isWritten, NOTHING, WRITTEN, type Right, type Written } from './written.js';

/** Writes jobs from their beginning to their end, and the ends of claims. */
@Injectable()
export class JobWriter {
  constructor(
    private readonly store: InventoryStore,
    private readonly recoverJobs: RecoverJobs,
    private readonly claims: ClaimsService,
    private readonly operations: OperationsService,
    private readonly settlements: SettlementWriter,
    private readonly book: ReservationBook,
  ) {}

  async change(i: ChangeJob, at: Moment, c: Right): Promise<Written> {
    const { changed } = await this.store.jobs.bucket.mutate(i.key, (current) => {
      c.check();
      return current && i.decide(current.value, at);
    });
    return isWritten(changed);
  }

  async create(i: CreateJob, at: Moment, c: Right): Promise<Written> {
    const job = i.decide(at);
    if (job === undefined) return NOTHING;
    if (!isEndedJob(job)) return isWritten(await this.recoverJobs.write(c, job));
    c.check();
    return unlessOvertaken(this.store.jobs.bucket.create(i.key, job));
  }

  delete({ key, revision }: DeleteJob): Promise<Written> {
    return unlessOvertaken(this.store.jobs.bucket.delete(key, revision));
  }

  async complete(i: CompleteJob): Promise<Written> {
    await this.operations.carryOut(i.job);
    return WRITTEN;
  }

  async settle(i: SettleJob, at: Moment, c: Right): Promise<Written> {
    const end = i.decide(at);
    if (end === undefined) return NOTHING;
    await this.settlements.write(end, at, c);
    return WRITTEN;
  }

  /** Who is next to hold it finds it as it was: the job has written nothing of it. */
  async freeNode(i: FreeNode, at: Moment, c: Right): Promise<Written> {
    const isFreed = await this.book.decide((now) => {
      c.check();
      const next = i.decide(now, at);
      return { next, answer: next !== undefined };
    });
    return isWritten(isFreed);
  }

  async expireClaim(i: ExpireClaim, at: Moment, c: Right): Promise<Written> {
    const isOver = await this.claims.expire(i.key, (now) => {
      c.check();
      return i.decide(now, at);
    });
    return isWritten(isOver);
  }
}

/** Somebody has written it meanwhile: it is planned anew. */
async function unlessOvertaken(write: Promise<unknown>): Promise<Written> {
  try {
    await write;
    return WRITTEN;
  } catch (e) {
    if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    return NOTHING;
  }
}

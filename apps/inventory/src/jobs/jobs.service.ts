import { Injectable } from '@nestjs/common';
import {
  isEndedJob,
  MusterError,
  RESERVATIONS_KEY,
  type JobRecord,
  type Page,
  type PageRequest,
  type WithRevision,
} from '#contracts';
import type { Entry } from '#bus';
import { jobAfter } from '#domain/job/changes.js';
import { OperationsService } from '../operations/operations.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { isJobLabel, isOfSystem, labelledJob, type JobLabel } from './labelled-job.js';
import { shownJob } from './shown-job.js';

/** Jobs as shown, and their cancellation. */
@Injectable()
export class JobsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly operations: OperationsService,
  ) {}

  /** Newest first; the cursor is the id of the last one shown. */
  list(q: PageRequest & { status?: string; kind?: string; node?: string }): Page<WithRevision<JobRecord>> {
    const all = newestFirst(this.store.jobs.view.entries()).filter(
      ({ value: job }) =>
        (q.status === undefined || job.status === q.status) &&
        (q.kind === undefined || job.kind === q.kind) &&
        (q.node === undefined || job.nodes.includes(q.node)),
    );
    const from = q.cursor === undefined ? 0 : all.findIndex((e) => e.key === q.cursor) + 1;
    const limit = Math.max(1, q.limit ?? all.length);
    const items = all.slice(from, from + limit).map((e) => withoutDiffs(shown(e)));
    const last = items.at(-1);
    return last && from + limit < all.length ? { items, next: last.id } : { items };
  }

  /**
   * By id, or by a label, see {@link labelledJob}.
   * @throws MusterError JOB_UNKNOWN in the words of the operations contract
   */
  async get(id: string): Promise<WithRevision<JobRecord>> {
    if (isJobLabel(id)) return shown(await this.labelled(id));
    const entry = JOB_ID.test(id) ? ((await this.store.jobs.bucket.get(id)) ?? (await this.pending(id))) : undefined;
    if (!entry) throw unknownJob(id);
    return shown(entry);
  }

  /**
   * Which job a cancel of this id, or of `active`, is about.
   * @throws MusterError JOB_UNKNOWN; BAD_REQUEST where the active one is the system's: nobody ends that by chance
   */
  async cancellable(id: string): Promise<string> {
    if (id !== 'active') return id;
    const { key, value } = await this.labelled(id);
    if (isOfSystem(value))
      throw new MusterError(
        'BAD_REQUEST',
        `the active job ${key} is the system's own (${value.desc}): to end it all the same, cancel it by its id`,
        { job: key },
      );
    return key;
  }

  /**
   * A waiting job ends here; a running one is told to its worker, which ends Ansible and its children.
   * @param isWanted of the job as it is when that is written. @default it is
   */
  async cancel(id: string, by: string, isWanted?: (now: JobRecord) => boolean): Promise<WithRevision<JobRecord>> {
    if (!JOB_ID.test(id)) throw unknownJob(id);
    const accepted = await this.pending(id);
    if (accepted) await this.operations.carryOut(accepted.value);
    const done = await this.store.jobs.bucket.mutate(id, (current) => {
      if (!current) throw unknownJob(id);
      const job = current.value;
      if (isEndedJob(job))
        throw new MusterError('BAD_REQUEST', `job ${id} has ended already: ${job.status}`, { job: id });
      if (isWanted?.(job) === false) return undefined;
      return jobAfter(job, { kind: 'cancelled', by, at: this.store.clock.wallMs() });
    });
    if (!done.value) throw unknownJob(id);
    return shownJob(done.value, done.revision);
  }

  private async labelled(label: JobLabel): Promise<Entry<JobRecord>> {
    // Before the view is read: what it begins to show meanwhile is not among them.
    const unseen = label === 'active' ? await this.unseen() : [];
    const found = labelledJob(label, newestFirst([...this.store.jobs.view.entries(), ...unseen]));
    if (!found) throw new MusterError('JOB_UNKNOWN', `info for "${label}" job doesn't exist`, { job: label });
    return found;
  }

  /** Accepted, but its record may not have followed yet. */
  private async pending(id: string): Promise<Entry<JobRecord> | undefined> {
    const value = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.pending[id];
    return value && { key: id, value, revision: 0 };
  }

  /** Jobs that hold nodes and that the view does not show yet: whoever was told of one a moment ago finds it. */
  private async unseen(): Promise<Entry<JobRecord>[]> {
    const now = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value;
    const ids = new Set([...Object.keys(now?.pending ?? {}), ...Object.values(now?.held ?? {}).map((h) => h.job)]);
    const entries = [...ids].map(async (id) => {
      if (id === undefined || this.store.jobs.view.get(id)) return undefined;
      const value = now?.pending[id];
      return value ? { key: id, value, revision: 0 } : this.store.jobs.bucket.get(id);
    });
    return (await Promise.all(entries)).filter((e) => e !== undefined);
  }
}

const newestFirst = (jobs: readonly Entry<JobRecord>[]): Entry<JobRecord>[] =>
  jobs.toSorted((a, b) => b.value.createdAt - a.value.createdAt || (a.key < b.key ? 1 : -1));

/** What differs on its nodes is in the answer for one job: a list of all would be too large. */
function withoutDiffs(job: WithRevision<JobRecord>): WithRevision<JobRecord> {
  if (job.diff !== true) return job;
  const results = Object.entries(job.results).map(([node, { diff: _long, ...result }]) => [node, result] as const);
  return { ...job, results: Object.fromEntries(results) };
}

/** What can be a key of the bucket at all. */
const JOB_ID = /^[A-Za-z0-9._=-]{1,100}$/;
const shown = (e: Entry<JobRecord>): WithRevision<JobRecord> => shownJob(e.value, e.revision);
const unknownJob = (id: string): MusterError =>
  new MusterError('JOB_UNKNOWN', `Invalid or empty job label specified: "${id}"`, { job: id });

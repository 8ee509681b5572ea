import { Injectable } from '@nestjs/common';
import {
  checkVariables,
  managementAddress,
  MusterError,
  RESERVATIONS_KEY,
  unmasked,
  type By,
  type JobRecord,
  type NodeRecord,
  type OperationRequest,
  type Reservations,
} from '#contracts';
import type { Entry } from '#bus';
import { newJob } from '#domain/job/changes.js';
import { moveForJob } from '../nodes/node-status.js';
import { NodeService } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { ReportsView } from '../reports/reports-view.js';
import { AfterAnswer } from '../store/after-answer.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { timedId } from '../store/timed-id.js';
import type { Decision } from '../store/group-commit.js';
import { admit, cleansUp, type AdmissionFacts, type AdmissionRequest } from './admission.js';
import type { AdmissionRound } from './admission-round.js';
import { describeJob } from './job-description.js';
import { fingerprint, keyedJobId, sameRequest } from './request-key.js';
import { ReservationBook } from './reservation-book.js';
import { carriedOut, reserve } from './reservations.js';

/** What the system adds to a request of its own. */
export interface SystemCause {
  /** `return`, … */
  cause: string;
  /** resetup: the only services that it is for. @default all */
  services?: string[];
  /** Token of the conductor; asked right before the write. */
  check(): number;
  /** See {@link AdmissionRequest}. */
  needs(node: NodeRecord): boolean;
  /** See {@link AdmissionRequest}. */
  isAbsent?(node: string, workload: string): boolean;
}

type Submission = OperationRequest & By & { key?: string };

/** What the decision on one request was made from. */
interface DecisionInput {
  round: AdmissionRound;
  /** The job that came of the same key, or of an earlier try, before. */
  known: JobRecord | undefined;
  /** Node → extra vars that it was provisioned with. */
  provisioned: ReadonlyMap<string, JobRecord['extraVars']>;
}

interface Accepted {
  job: JobRecord;
  /** Absent: the job was known before. */
  begin?: Beginning;
}

/** What a new job begins with. */
interface Beginning {
  /** Its nodes as they were when it was decided. */
  nodes: Entry<NodeRecord>[];
  /** Monotonic, ms. */
  decidedAt: number;
}

/**
 * Who was stopped for longer than this between the decision and the job's record, ms, looks whether another has carried
 * the job out meanwhile: it may have ended, and its record may be forgotten already.
 */
const LATE_MS = 5000;

/**
 * Accepts operations. One compare-and-set on the reservations is the decision; it carries the whole job. Everything
 * after it is rolled forward, here or by whoever sees that it was left half done: nodes move, then the job's record
 * appears (a worker may start at once), then it is told, and it is no longer pending.
 */
@Injectable()
export class OperationsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly book: ReservationBook,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly quarantine: PowerQuarantine,
    private readonly after: AfterAnswer,
    private readonly reports: ReportsView,
  ) {}

  /**
   * Resolves once the job is accepted and shown: its nodes have their transient status, its record can be read. A job that
   * was accepted before, by an earlier try or under the same key, is answered as it is; where its record is still to come,
   * the conductor writes it.
   * @throws MusterError with the first rule that stands against it; then nothing has changed. TIMEOUT: it may be accepted
   */
  async submit(r: Submission, system?: SystemCause): Promise<JobRecord> {
    checkVariables(r.extraVars ?? {}, 'extra-vars');
    refuseMasks(r.extraVars ?? {});
    checkSize(r.extraVars ?? {});
    if (r.diff === true && r.kind !== 'check')
      throw new MusterError('BAD_REQUEST', `diff: a ${r.kind} compares nothing: only a check says what differs`);
    const request: AdmissionRequest = { kind: r.kind, nodes: r.nodes ?? [], addresses: r.addresses ?? [] };
    if (r.hostGroup !== undefined) request.hostGroup = r.hostGroup;
    if (r.service !== undefined) request.service = r.service;
    if (r.force !== undefined) request.force = r.force;
    if (r.atOnce !== undefined) request.atOnce = r.atOnce;
    if (r.skipKnown !== undefined) request.skipKnown = r.skipKnown;
    if (system) {
      request.needs = (node) => system.needs(node);
      request.isAbsent = (node, workload) => system.isAbsent?.(node, workload) === true;
    }
    const id = r.key === undefined ? timedId('job', this.store) : keyedJobId(r.by, r.key);
    // A write whose answer was lost is tried again: by then the job may have ended, and hold nothing any more.
    let mayBeKnown = r.key !== undefined;
    const accepted = await this.book
      .change<DecisionInput, Accepted>({
        read: (now, round) => {
          const known = mayBeKnown ? id : undefined;
          mayBeKnown = true;
          return this.readInput(r, known, request, now, round);
        },
        decide: (now, input) => this.decide(r, id, request, now, input, system),
      })
      .catch(async (refusal: unknown): Promise<Accepted> => {
        // Its own twin may be what stands against it: taken by the other replica after the book was read here.
        const twin = r.key === undefined ? undefined : await this.taken(id);
        if (twin === undefined) throw refusal;
        return { job: sameRequest(twin, fingerprint(r)) };
      });
    if (accepted.begin) await this.begin(accepted.job, accepted.begin);
    return accepted.job;
  }

  /** Pending first: a job has its record before it is no longer that. */
  private async taken(id: string): Promise<JobRecord | undefined> {
    const { reservations, jobs } = this.store;
    const pending = (await reservations.bucket.get(RESERVATIONS_KEY))?.value.pending[id];
    return pending ?? (await jobs.bucket.get(id))?.value;
  }

  private decide(
    r: Submission,
    id: string,
    request: AdmissionRequest,
    now: Reservations,
    input: DecisionInput,
    system: SystemCause | undefined,
  ): Decision<Reservations, Accepted> {
    const before = input.known ?? now.pending[id];
    if (before) return { answer: { job: r.key === undefined ? before : sameRequest(before, fingerprint(r)) } };
    const { nodes: held, moving, addresses, skipped } = admit(request, this.facts(now, input.round));
    if (addresses) request = { ...request, addresses };
    const job = this.jobOf(r, id, request, held, this.extraVarsOf(r, held, input.provisioned));
    if (moving) job.moving = moving;
    if (skipped) job.skipped = skipped;
    if (r.key !== undefined) job.fingerprint = fingerprint(r);
    if (system) {
      job.cause = system.cause;
      if (system.services !== undefined) job.services = system.services;
      job.conductor = system.check();
    }
    const nodes = job.nodes.flatMap((name) => input.round.seen(name) ?? []);
    return {
      next: reserve(now, job, held),
      answer: { job, begin: { nodes, decidedAt: this.store.clock.monotonicMs() } },
    };
  }

  /**
   * Right after the decision: the nodes are as they were read for it, so that one write each will do. The request
   * stands whatever happens here: what could not be done is rolled forward.
   */
  private async begin(job: JobRecord, b: Beginning): Promise<void> {
    const notifications: (() => Promise<void>)[] = [];
    try {
      await Promise.all([
        // Before a worker can see the record, and say that it runs.
        this.publish(job),
        inParallel(b.nodes, async (seen) => {
          const notify = await this.moveAsSeen(seen, job);
          if (notify) notifications.push(notify);
        }),
      ]);
      if (this.store.clock.monotonicMs() - b.decidedAt < LATE_MS) await this.writeRecord(job);
      else await this.writeRecordIfPending(job);
    } catch (e) {
      this.store.bus.log.warn({ job: job.id, reason: MusterError.from(e).message }, 'an accepted job waits for help');
      return;
    }
    // Events are told before the job is no longer pending, so that after a crash in between they are told again.
    this.after.run(`job ${job.id}`, () =>
      Promise.all(notifications.map((notify) => notify())).then(() => this.noLongerPending(job)),
    );
  }

  /** Idempotent, and safe at any moment after the reservation, by anyone. */
  async carryOut(job: JobRecord): Promise<void> {
    await inParallel(job.nodes, (name) => this.moveNode(name, job));
    await this.writeRecordIfPending(job);
    await this.publish(job);
    await this.noLongerPending(job);
  }

  private noLongerPending(job: JobRecord): Promise<void> {
    return this.book.tidyAlong((r) => carriedOut(r, job.id));
  }

  /** Whoever has touched the node since sends it the long way. @returns what notifies others of it */
  private async moveAsSeen(seen: Entry<NodeRecord>, job: JobRecord): Promise<(() => Promise<void>) | undefined> {
    const moved = moveForJob(seen.value, job);
    if (!moved) return undefined;
    try {
      return await this.nodes.replace(seen, moved);
    } catch (e) {
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
      await this.moveNode(seen.key, job);
      return undefined;
    }
  }

  private async writeRecordIfPending(job: JobRecord): Promise<void> {
    const now = await this.store.reservations.bucket.get(RESERVATIONS_KEY);
    if (now?.value.pending[job.id]) await this.writeRecord(job);
  }

  private async writeRecord(job: JobRecord): Promise<void> {
    try {
      await this.store.jobs.bucket.create(job.id, job);
    } catch (e) {
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    }
  }

  private async moveNode(name: string, job: JobRecord): Promise<void> {
    try {
      await this.nodes.change(name, async (node) => {
        // Read after the node: a settlement writes the node first and frees it after, so either this sees that the
        // node is free again, or the node's own revision has moved on.
        const held = await this.store.reservations.bucket.get(RESERVATIONS_KEY);
        return held?.value.held[name]?.job === job.id ? moveForJob(node, job) : undefined;
      });
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code !== 'NODE_UNKNOWN') throw error;
      this.store.bus.log.warn({ node: name, job: job.id }, 'a node of an accepted job was deleted meanwhile');
    }
  }

  private publish(job: JobRecord): Promise<void> {
    const { id, kind, status, nodes, task, error } = job;
    return this.store.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.accepted` });
  }

  private jobOf(
    r: Submission,
    id: string,
    request: AdmissionRequest,
    held: string[],
    extraVars: JobRecord['extraVars'],
  ): JobRecord {
    // The nodes that a discover holds are those that stood behind its addresses: the job itself goes by address.
    const nodes = r.kind === 'discover' ? [] : held;
    const job = newJob({
      id,
      kind: r.kind,
      nodes,
      desc: describeJob(request, nodes, extraVars),
      extraVars,
      task: r.kind,
      createdAt: this.store.clock.wallMs(),
      by: r.by,
    });
    const placed = ['commission', 'maintenance', 'service-test'].includes(request.kind);
    if (placed && request.hostGroup !== undefined && request.hostGroup !== '') job.hostGroup = request.hostGroup;
    if (r.kind === 'discover') job.addresses = request.addresses;
    if (r.kind === 'service-test' && r.service !== undefined) job.services = [r.service];
    if (r.diff === true) job.diff = true;
    if (r.timeout !== undefined) job.timeoutMs = r.timeout * 1000;
    return job;
  }

  /**
   * Reads all that decides, after the reservations: nodes of the request anew, see {@link AdmissionRound}.
   * @param id of its job, where that may be known already
   */
  private async readInput(
    r: Submission,
    id: string | undefined,
    request: AdmissionRequest,
    now: Reservations,
    round: AdmissionRound,
  ): Promise<DecisionInput> {
    const names = [...request.nodes, ...this.behind(request)];
    const [known, provisioned] = await Promise.all([
      id === undefined ? undefined : this.store.jobs.bucket.get(id),
      this.provisionedWith(r, names, round),
      round.catchUp(now),
      cleansUp(request.kind) ? round.catchUpWorkloads() : undefined,
      ...names.map((name) => round.read(name)),
    ]);
    return { round, known: known?.value, provisioned };
  }

  /** Nodes that the request means by their addresses. */
  private behind(request: AdmissionRequest): string[] {
    const view = this.store.nodes.view;
    const addresses = new Set([...request.nodes.filter((n) => view.get(n) === undefined), ...request.addresses]);
    if (addresses.size === 0) return [];
    return view.entries().flatMap((e) => (addresses.has(managementAddress(e.value)) ? [e.key] : []));
  }

  /**
   * A check compares with, and a re-setup restores, what the nodes were provisioned with: the extra vars of that
   * request belong to it. They stay in its job's record, sealed, so that no secret among them is shown with the node.
   */
  private extraVarsOf(
    r: OperationRequest,
    nodes: readonly string[],
    provisioned: DecisionInput['provisioned'],
  ): JobRecord['extraVars'] {
    if (!goesByWhatWas(r)) return this.store.sealed(r.extraVars ?? {});
    const [first = {}, ...rest] = nodes.map((name) => provisioned.get(name) ?? {});
    const asSent = (vars: JobRecord['extraVars']): string => JSON.stringify(this.store.opened(vars));
    if (rest.every((vars) => asSent(vars) === asSent(first))) return first;
    throw new MusterError(
      'BAD_REQUEST',
      `the nodes were provisioned with different extra vars: ask for one ${r.kind} each, or give extraVars`,
      { nodes },
    );
  }

  /** Extra vars of the requests that the nodes were provisioned by: where a job of this kind goes by them. */
  private async provisionedWith(
    r: Submission,
    nodes: readonly string[],
    round: AdmissionRound,
  ): Promise<DecisionInput['provisioned']> {
    const vars = new Map<string, JobRecord['extraVars']>();
    if (!goesByWhatWas(r)) return vars;
    await Promise.all(
      nodes.map(async (name) => {
        const job = (await round.read(name))?.value.provisioned?.job;
        if (job !== undefined) vars.set(name, (await this.store.jobs.bucket.get(job))?.value.extraVars ?? {});
      }),
    );
    return vars;
  }

  private facts(now: Reservations, round: AdmissionRound): AdmissionFacts {
    return {
      nodes: round.nodes,
      held: now.held,
      groups: this.store.clusterSettings.hostGroups,
      job: (id) => this.store.jobs.view.get(id)?.value ?? now.pending[id],
      workloadsOn: (node) => round.workloadsOn(node),
      straysOn: (node) =>
        round.strays(
          node,
          (this.reports.of(node)?.report.workloads ?? []).map((w) => w.name),
        ),
      quarantined: (node) => this.quarantine.reason(node),
      queuedJobs: round.queuedJobs(now.pending),
      provisionDrivers: this.service.offered('provisioner'),
    };
  }
}

const goesByWhatWas = (r: OperationRequest): boolean =>
  (r.kind === 'check' || r.kind === 'resetup') && Object.keys(r.extraVars ?? {}).length === 0;

/** Jobs that are being admitted stand, whole, in one value of which NATS takes 8 MB; at most 100 of them wait. */
const MOST_EXTRA_VARS = 65_536;

/** What was shown of another job is no value: nothing is stored here that a mask could stand for. */
function refuseMasks(extraVars: Record<string, unknown>): void {
  unmasked(extraVars, {}, 'extra-vars', 'BAD_REQUEST');
}

function checkSize(extraVars: Record<string, unknown>): void {
  const size = Buffer.byteLength(JSON.stringify(extraVars));
  if (size > MOST_EXTRA_VARS)
    throw new MusterError(
      'TOO_LARGE',
      `extra-vars take ${size} bytes of JSON, at most ${MOST_EXTRA_VARS} are accepted: put what is larger into a file of the playbooks`,
    );
}

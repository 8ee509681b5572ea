import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  checkVariableNames,
  isEndedJob,
  MusterError,
  NODE_NAME_PATTERN,
  RESERVATIONS_KEY,
  type By,
  type JobRecord,
  type NodeRecord,
  type OperationRequest,
} from '#contracts';
import { moveForJob } from '../nodes/node-machine.js';
import { NodeService } from '../nodes/node.service.js';
import { ServiceView } from '../nodes/service-view.js';
import { PowerQuarantine } from '../returns/power-quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';
import { admit, type AdmissionFacts, type AdmissionRequest } from './admission.js';
import { describeJob } from './job-description.js';
import { carriedOut, noReservations, reserve } from './reservations.js';

/** What the system adds to a request of its own. */
export interface SystemCause {
  /** `return`, … */
  cause: string;
  /** Token of the conductor; asked right before the write. */
  check(): number;
}

/**
 * Accepts operations. One compare-and-set on the reservations is the decision; it carries the whole job. Everything
 * after it is rolled forward, here or by whoever sees that it was left half done: nodes move, then the job's record
 * appears (a worker may start at once), then it is no longer pending.
 */
@Injectable()
export class OperationsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly service: ServiceView,
    private readonly quarantine: PowerQuarantine,
  ) {}

  /** @throws MusterError with the first rule that stands against it; then nothing has changed */
  async submit(r: OperationRequest & By, system?: SystemCause): Promise<JobRecord> {
    checkVariableNames(r.extraVars ?? {}, 'extra-vars');
    const request: AdmissionRequest = { kind: r.kind, nodes: r.nodes ?? [], addresses: r.addresses ?? [] };
    if (r.hostGroup !== undefined) request.hostGroup = r.hostGroup;
    if (r.force !== undefined) request.force = r.force;
    let job: JobRecord | undefined;
    await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, async (current) => {
      const now = current?.value ?? noReservations;
      const admitted = admit(request, await this.facts(request, now.held, Object.keys(now.pending)));
      const record = this.jobOf(r, request, admitted.nodes, await this.extraVars(r, admitted.nodes));
      if (system) {
        record.cause = system.cause;
        record.conductor = system.check();
      }
      job = record;
      return reserve(now, record, admitted.nodes);
    });
    if (!job) throw new MusterError('INTERNAL', 'the reservation was written without a job');
    await this.carryOut(job);
    return job;
  }

  /** Idempotent, and safe at any moment after the reservation, by anyone. */
  async carryOut(job: JobRecord): Promise<void> {
    for (const name of job.nodes) await this.moveNode(name, job);
    try {
      await this.store.jobs.bucket.create(job.id, job);
    } catch (e) {
      if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    }
    await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, (current) =>
      current ? carriedOut(current.value, job.id) : undefined,
    );
    await this.tell(job);
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

  private tell(job: JobRecord): Promise<void> {
    const { id, kind, status, nodes, task, error } = job;
    return this.store.bus.emit('job', id, { job: id, kind, status, nodes, task, error }, { id: `job.${id}.accepted` });
  }

  private jobOf(
    r: OperationRequest & By,
    request: AdmissionRequest,
    held: string[],
    extraVars: JobRecord['extraVars'],
  ): JobRecord {
    // The nodes that a discover holds are those that stood behind its addresses: the job itself goes by address.
    const nodes = r.kind === 'discover' ? [] : held;
    const job: JobRecord = {
      id: newJobId(),
      kind: r.kind,
      nodes,
      status: 'Queued',
      desc: describeJob(request, nodes, extraVars),
      extraVars,
      task: r.kind,
      error: '',
      createdAt: Date.now(),
      by: r.by,
      generation: 0,
      results: {},
      settled: false,
    };
    if (request.hostGroup !== undefined && request.hostGroup !== '') job.hostGroup = request.hostGroup;
    if (r.kind === 'discover') job.addresses = request.addresses;
    return job;
  }

  /**
   * A check compares with, and a re-setup restores, what the nodes were provisioned with: the extra vars of that
   * request belong to it. They stay in its job's record, so that no secret among them is shown with the node.
   */
  private async extraVars(r: OperationRequest, nodes: readonly string[]): Promise<JobRecord['extraVars']> {
    const given = r.extraVars ?? {};
    if ((r.kind !== 'check' && r.kind !== 'resetup') || Object.keys(given).length > 0) return given;
    const all = await Promise.all(nodes.map((name) => this.provisionedWith(name)));
    const [first = {}, ...rest] = all;
    if (rest.every((vars) => JSON.stringify(vars) === JSON.stringify(first))) return first;
    throw new MusterError(
      'BAD_REQUEST',
      `the nodes were provisioned with different extra vars: ask for one ${r.kind} each, or give extraVars`,
      { nodes },
    );
  }

  private async provisionedWith(name: string): Promise<JobRecord['extraVars']> {
    const job = (await this.readNode(name))?.provisioned?.job;
    return (job !== undefined && (await this.store.jobs.bucket.get(job))?.value.extraVars) || {};
  }

  /** Nodes that decide (those of the request, and masters) are read anew: a view may be a moment behind a settlement. */
  private async facts(
    request: AdmissionRequest,
    held: AdmissionFacts['held'],
    pending: readonly string[],
  ): Promise<AdmissionFacts> {
    const settings = this.store.clusterSettings;
    const masters = new Set(settings.hostGroups.filter((g) => g.role === 'master').map((g) => g.name));
    const wanted = new Set(request.nodes);
    const nodes = new Map(this.store.nodes.view.entries().map((e) => [e.key, e.value]));
    const fresh = new Set(wanted);
    for (const [name, n] of nodes)
      if (masters.has(n.hostGroup ?? '') || wanted.has(n.networks['management']?.address ?? '')) fresh.add(name);
    const read = await Promise.all([...fresh].map((name) => this.readNode(name)));
    for (const n of read) if (n) nodes.set(n.name, n);
    const workloads = this.store.workloads.view.entries().map((e) => e.value);
    return {
      nodes: [...nodes.values()],
      held,
      groups: settings.hostGroups,
      job: (id) => this.store.jobs.view.get(id)?.value,
      workloadsOn: (node) => workloads.filter((w) => w.assignment?.node === node).map((w) => w.name),
      quarantined: (node) => this.quarantine.reason(node),
      queuedJobs: this.queued(pending),
      provisionDrivers: this.service.offered('provisioner'),
    };
  }

  private async readNode(name: string): Promise<NodeRecord | undefined> {
    return NODE_NAME_PATTERN.test(name) ? (await this.store.nodes.bucket.get(name))?.value : undefined;
  }

  private queued(pending: readonly string[]): number {
    const jobs = this.store.jobs.view.entries().map((e) => e.value);
    const waiting = jobs.filter((j) => !isEndedJob(j) && j.status === 'Queued').map((j) => j.id);
    return new Set([...waiting, ...pending]).size;
  }
}

/** Sorts by time within a process; unique by 6 random characters. */
const newJobId = (): string => `job-${Date.now().toString(36)}-${randomBytes(3).toString('hex')}`;

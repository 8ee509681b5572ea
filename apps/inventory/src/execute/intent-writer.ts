import { Injectable } from '@nestjs/common';
import { MusterError, type NodeRecord } from '#contracts';
import type { ChangeNode, Intent, Moment, NodeFirst } from '../plan/intent.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { PeriodicReads } from '../snapshot/periodic-reads.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentWriter } from './agent-writer.js';
import { IncidentWriter } from './incident-writer.js';
import { JobWriter } from './job-writer.js';
import { MessageWriter } from './message-writer.js';
import { NodeWriter } from './node-writer.js';
import { SubmissionWriter } from './submission-writer.js';
import { WorkloadWriter } from './workload-writer.js';
import { isWritten, WRITTEN, type Right, type Written } from './written.js';

/**
 * The one place where intents become writes: each by the one writer of its record, begun under the lease. What the
 * conductor alone writes is decided again in the compare-and-set, where the lease is checked once more; an intent that is
 * no longer wanted there leaves the record alone. Any replica may do the rest, late as well: jobs and edits are completed
 * while they stand, a job is deleted as it was seen, later verdicts count, and who is shut out stays so.
 */
@Injectable()
export class IntentWriter {
  constructor(
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly nodes: NodeWriter,
    private readonly workloads: WorkloadWriter,
    private readonly incidents: IncidentWriter,
    private readonly jobs: JobWriter,
    private readonly submissions: SubmissionWriter,
    private readonly messages: MessageWriter,
    private readonly agents: AgentWriter,
    private readonly periodicReads: PeriodicReads,
  ) {}

  /** @throws MusterError what the write throws; LEASE_LOST, before it, where another may be the conductor */
  async carryOut(intent: Intent, c: Right): Promise<void> {
    const fleet = intent.reads === undefined ? this.fleets.now() : await this.fleets.read(intent.reads);
    const at: Moment = { fleet, token: c.check(), uuid: this.store.random.uuid() };
    const written = await this.write(intent, at, c);
    const next = written.next ?? [];
    if (written.isAtOnce) await inParallel(next, (i) => this.carryOut(i, c));
    else for (const i of next) await this.carryOut(i, c);
    if (written.isWritten && intent.log !== undefined)
      this.store.bus.log[intent.log.level](intent.log.facts, intent.log.message);
  }

  private async write(i: Intent, at: Moment, c: Right): Promise<Written> {
    switch (i.do) {
      case 'change-node':
        return this.nodes.change(i, at, c);
      case 'complete-edit':
        return this.nodes.completeEdit(i);
      case 'sweep-edit':
        return this.nodes.sweepEdit(i, c);
      case 'change-workload':
        return this.workloads.change(i, at, c);
      case 'change-workloads':
        return this.workloads.changeAll(i, at, c);
      case 'change-incident':
        return this.incidents.change(i, at, c);
      case 'open-incident':
        return this.incidents.open(i, at, c);
      case 'take-permit':
        return this.incidents.takePermit(i, c);
      case 'keep-permits':
        return this.incidents.keepPermits(i, at, c);
      case 'node-first':
        return this.nodeFirst(i, at, c);
      case 'change-job':
        return this.jobs.change(i, at, c);
      case 'create-job':
        return this.jobs.create(i, at, c);
      case 'delete-job':
        return this.jobs.delete(i);
      case 'complete-job':
        return this.jobs.complete(i);
      case 'settle-job':
        return this.jobs.settle(i, at, c);
      case 'free-node':
        return this.jobs.freeNode(i, at, c);
      case 'expire-claim':
        return this.jobs.expireClaim(i, at, c);
      case 'submit-jobs':
        return isWritten(await this.submissions.write(i, at, c));
      case 'cancel-job':
        return isWritten(await this.submissions.cancel(i, at, c));
      case 'raise-alarm':
        return this.messages.raise(i, c);
      case 'clear-alarm':
        return this.messages.clear(i, c);
      case 'publish-driver':
        return this.messages.publishDriver(i);
      case 'keep-verdicts':
        return this.messages.keepVerdicts(i, c);
      case 'fetch-verdict':
        return this.messages.fetchVerdict(i);
      case 'change-key-set':
        return this.agents.changeKeySet(i, at, c);
      case 'refuse-users':
        return this.agents.refuseUsers(i, at);
      case 'note-revocation':
        return this.agents.noteRevocation(i);
      case 'take-user':
        return this.agents.takeUser(i, at, c);
      case 'begin-identity-read':
        this.periodicReads.begin(i.read);
        return WRITTEN;
      case 'fail-record':
        throw i.error;
    }
  }

  private async nodeFirst(i: NodeFirst, at: Moment, c: Right): Promise<Written> {
    let found: NodeRecord | undefined;
    const decide: ChangeNode['decide'] = (now, moment) => {
      found = now;
      return i.node.decide(now, moment);
    };
    try {
      await this.nodes.change({ ...i.node, decide }, at, c);
    } catch (e) {
      if (MusterError.from(e).code !== 'NODE_UNKNOWN') throw e;
      found = undefined;
    }
    return { isWritten: true, next: [i.incident(found)] };
  }
}

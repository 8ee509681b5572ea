import { Injectable } from '@nestjs/common';
import { isEndedJob, MusterError, type NodeRecord, type WorkloadRecord } from '#contracts';
import { AlarmService } from '../alarms/alarm.service.js';
import { ClaimsService } from '../claims/claims.service.js';
import { DatagramKeysService } from '../agents/datagram-keys.service.js';
import type { TaskRun } from '../conductor/task.js';
import { IncidentService } from '../incidents/incident.service.js';
import { PermitService } from '../incidents/permit.service.js';
import { EditsService } from '../node-requests/edits.service.js';
import { isVerdict } from '../node-state/verdict.consumer.js';
import { VerdictService } from '../node-state/verdict.service.js';
import { NodeService } from '../nodes/node.service.js';
import { OperationsService } from '../operations/operations.service.js';
import type {
  ChangeIncident,
  ChangeJob,
  ChangeNode,
  ChangeWorkload,
  ChangeWorkloads,
  CreateJob,
  DeleteJob,
  Intent,
  KeepVerdicts,
  PublishDriver,
  Moment,
  NodeFirst,
  OpenIncident,
  SettleJob,
  TakePermit,
} from '../plan/intent.js';
import { RecoverJobs } from '../recovery/recover-jobs.service.js';
import { WorkloadService } from '../recovery/workload.service.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { AuditService } from '../store/audit.service.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { SettlementWriter } from './settlement-writer.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import { SubmissionWriter } from './submission-writer.js';

/** The most that what follows an incident waits for the view to show it, ms: it does within a few. */
const SHOWN_MS = 1_000;

type Right = Pick<TaskRun, 'token' | 'check'>;

/**
 * The one place where intents become writes: each by the one writer of its record, under the lease, and decided again in
 * the compare-and-set. An intent that is no longer wanted there leaves the record alone.
 */
@Injectable()
export class IntentWriter {
  /** Driver → id of the event that this process has told last. */
  private readonly toldOfDriver = new Map<string, string>();

  constructor(
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly nodes: NodeService,
    private readonly workloads: WorkloadService,
    private readonly incidents: IncidentService,
    private readonly jobs: RecoverJobs,
    private readonly claims: ClaimsService,
    private readonly operations: OperationsService,
    private readonly settlements: SettlementWriter,
    private readonly submissions: SubmissionWriter,
    private readonly edits: EditsService,
    private readonly alarms: AlarmService,
    private readonly audit: AuditService,
    private readonly permits: PermitService,
    private readonly verdictNow: VerdictNow,
    private readonly verdicts: VerdictService,
    private readonly keys: DatagramKeysService,
  ) {}

  /** @throws MusterError what the write throws; LEASE_LOST, before it, where another may be the conductor */
  async carryOut(intent: Intent, c: Right): Promise<void> {
    const fleet = intent.reads === undefined ? this.fleets.now() : await this.fleets.read(intent.reads);
    const at: Moment = { fleet, token: c.check(), uuid: this.store.random.uuid() };
    const isDone = await this.write(intent, at, c);
    if (isDone && intent.log !== undefined) this.store.bus.log[intent.log.level](intent.log.facts, intent.log.message);
  }

  /** @returns whether anything was written */
  private async write(i: Intent, at: Moment, c: Right): Promise<boolean> {
    switch (i.do) {
      case 'change-node':
        return this.changeNode(i, at, c);
      case 'change-workload':
        return this.changeWorkload(i, at, c);
      case 'change-workloads':
        return this.changeWorkloads(i, at, c);
      case 'change-incident':
        return this.changeIncident(i, at, c);
      case 'open-incident':
        return this.openIncident(i, at, c);
      case 'take-permit':
        return this.takePermit(i, c);
      case 'node-first':
        return this.nodeFirst(i, at, c);
      case 'change-job':
        return this.changeJob(i, at, c);
      case 'create-job':
        return this.createJob(i, at, c);
      case 'delete-job':
        return this.deleteJob(i);
      case 'expire-claim':
        return this.claims.expire(i.key, (now) => {
          c.check();
          return i.decide(now, at);
        });
      case 'complete-job':
        await this.operations.carryOut(i.job);
        return true;
      case 'settle-job':
        return this.settleJob(i, at, c);
      case 'submit-jobs':
        return this.submissions.write(i, at, c);
      case 'cancel-job':
        return this.submissions.cancel(i, at, c);
      case 'complete-edit':
        await this.edits.carryOut(i.key);
        return true;
      case 'sweep-edit':
        await this.edits.sweep(i.key);
        return true;
      case 'raise-alarm': {
        const { code, subject, severity, message } = i.alarm;
        const raised = await this.alarms.raise(code, subject, severity, message);
        return this.followed(i.followedBy?.(raised), c);
      }
      case 'clear-alarm':
        await this.alarms.clear(i.code, i.subject);
        return this.followed(i.followedBy?.(), c);
      case 'change-key-set':
        return this.keys.change((now) => i.decide(now, at), { destroys: i.destroys, check: () => void c.check() });
      case 'keep-verdicts':
        return this.keepVerdicts(i, c);
      case 'publish-driver':
        return this.publishDriver(i);
      case 'fetch-verdict':
        return this.fetchVerdict(i.node);
      case 'fail-record':
        throw i.error;
    }
  }

  private async changeNode(i: ChangeNode, at: Moment, c: Right): Promise<boolean> {
    const change = async (): Promise<boolean> => {
      const { changed } = await this.nodes.change(
        i.key,
        (now) => {
          c.check();
          return i.decide(now, at);
        },
        i.told,
      );
      return changed;
    };
    const { audit } = i;
    return audit === undefined ? change() : this.audit.of(audit.by, audit.action, i.key, audit.detail, change);
  }

  private async changeWorkload(i: ChangeWorkload, at: Moment, c: Right): Promise<boolean> {
    let was: WorkloadRecord | undefined;
    const changed = await this.workloads.change(i.key, i.told, (now) => {
      c.check();
      was = now;
      return i.decide(now, at);
    });
    if (changed === undefined || was === undefined) return false;
    return this.followed(i.followedBy?.(changed, at, was), c);
  }

  private async changeWorkloads(i: ChangeWorkloads, at: Moment, c: Right): Promise<boolean> {
    const changed: WorkloadRecord[] = [];
    for (const key of i.keys) {
      const now = await this.workloads.change(key, undefined, (w) => {
        c.check();
        return i.decide(w, at);
      });
      if (now !== undefined) changed.push(now);
    }
    if (changed.length === 0) return false;
    return this.followed(i.followedBy(changed, at), c);
  }

  private async changeIncident(i: ChangeIncident, at: Moment, c: Right): Promise<boolean> {
    const changed = await this.incidents.change(i.key, i.id, (now) => {
      c.check();
      return i.decide(now, at);
    });
    if (changed === undefined) return false;
    const next = i.followedBy?.(changed) ?? [];
    if (next.length > 0) await this.store.incidents.view.shows(changed.revision, SHOWN_MS);
    await inParallel(next, (intent) => this.carryOut(intent, c));
    return true;
  }

  private async nodeFirst(i: NodeFirst, at: Moment, c: Right): Promise<boolean> {
    let found: NodeRecord | undefined;
    const decide: ChangeNode['decide'] = (now, moment) => {
      found = now;
      return i.node.decide(now, moment);
    };
    try {
      await this.changeNode({ ...i.node, decide }, at, c);
    } catch (e) {
      if (MusterError.from(e).code !== 'NODE_UNKNOWN') throw e;
      found = undefined;
    }
    await this.carryOut(i.incident(found), c);
    return true;
  }

  private async changeJob(i: ChangeJob, at: Moment, c: Right): Promise<boolean> {
    const { changed } = await this.store.jobs.bucket.mutate(i.key, (current) => {
      c.check();
      return current && i.decide(current.value, at);
    });
    return changed;
  }

  private async openIncident(i: OpenIncident, at: Moment, c: Right): Promise<boolean> {
    const { incident, joined } = await this.incidents.openOrJoin(i.make(at), {
      check: () => void c.check(),
      keeps: (over) => i.keeps(over, at),
    });
    return joined ? false : this.followed(i.followedBy(incident), c);
  }

  private async takePermit(i: TakePermit, c: Right): Promise<boolean> {
    const decision = await this.permits.take(i.incident, i.node, () => void c.check());
    await this.followed(i.followedBy(decision), c);
    return decision.granted;
  }

  private async createJob(i: CreateJob, at: Moment, c: Right): Promise<boolean> {
    const job = i.decide(at);
    if (job === undefined) return false;
    if (!isEndedJob(job)) return this.jobs.write(c, job);
    c.check();
    return unlessOvertaken(this.store.jobs.bucket.create(i.key, job));
  }

  private async deleteJob({ key, revision }: DeleteJob): Promise<boolean> {
    return unlessOvertaken(this.store.jobs.bucket.delete(key, revision));
  }

  private async settleJob(i: SettleJob, at: Moment, c: Right): Promise<boolean> {
    const end = i.decide(at);
    if (end === undefined) return false;
    await this.settlements.write(end, at, c);
    return true;
  }

  private async keepVerdicts({ newest }: KeepVerdicts, c: Right): Promise<boolean> {
    for (const [node, keep] of newest) {
      c.check();
      await this.store.bus.keepVerdicts(node, keep);
    }
    return true;
  }

  private async followed(by: readonly Intent[] = [], c: Right): Promise<true> {
    for (const next of by) await this.carryOut(next, c);
    return true;
  }

  private async publishDriver({ event, count }: PublishDriver): Promise<boolean> {
    const key = event.driver.replaceAll(':', '_');
    const id = `driver.${key}.${count}.${event.offered ? 'on' : 'off'}`;
    if (this.toldOfDriver.get(key) === id) return false;
    await this.store.bus.emit('driver', key, event, { id });
    this.toldOfDriver.set(key, id);
    return true;
  }

  /** Where the detector does not answer it is asked again by the next plan. */
  private async fetchVerdict(node: string): Promise<boolean> {
    const verdict = await this.verdictNow.of(node);
    if (!isVerdict(verdict)) return false;
    await this.verdicts.apply(verdict);
    return true;
  }
}

/** Somebody has written it meanwhile: it is planned anew. */
async function unlessOvertaken(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (e) {
    if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
    return false;
  }
}

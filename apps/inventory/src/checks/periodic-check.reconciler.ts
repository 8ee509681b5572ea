import { Injectable } from '@nestjs/common';
import {
  isEndedJob,
  isSettledJob,
  MusterError,
  PERIODIC,
  PERMITS_KEY,
  type IncidentPhase,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ServiceView, type Look } from '../nodes/service-view.js';
import { OperationsService } from '../operations/operations.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import {
  checksToBegin,
  isCalm,
  mayBeChecked,
  servesOn,
  type FleetState,
  type WatchedNode,
} from '../plan/checks/periodic-check.js';

/** Between two looks at the whole fleet: nothing here is in a hurry. */
const PACE: Pace = { everyMs: 1_000 };
/** A node whose check was refused lets others go first for so long, ms. */
const REFUSED_MS = 60_000;

const underWay: readonly IncidentPhase[] = ['open', 'investigating', 'fencing', 'fenced', 'recovering'];

/** Has each node in service checked once per `check.every`, by ordinary jobs that only look. */
@Injectable()
export class PeriodicCheckReconciler implements Reconciler {
  /** Node → monotonic time of the earliest next try. */
  private readonly notBefore = new Map<string, number>();

  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
    private readonly operations: OperationsService,
    private readonly jobs: JobsService,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const own = this.store.jobs.view.entries().flatMap((e) => (e.value.cause === PERIODIC ? [e.value] : []));
    const { every } = this.store.clusterSettings.check;
    if (every === 0 && own.every(isEndedJob)) return;
    const calm = isCalm(this.fleetState());
    await this.callOff(c, own, calm);
    if (every > 0 && calm) await c.every('look', PACE, () => this.beginDue(c, own, every));
  }

  private async beginDue(c: TaskRun, own: readonly JobRecord[], every: number): Promise<void> {
    const look = this.service.look();
    const now = this.store.clock.wallMs();
    const begin = checksToBegin(this.watched(c.now, look), {
      every,
      now,
      running: own.filter((j) => !isSettledJob(j)).length,
      begun: newest(own.map((j) => j.createdAt).filter((at) => at <= now)),
    });
    for (const name of begin) await this.start(c, name);
  }

  /** A node that is to be fenced, or is away, must not be held by a look at it; and recovery goes first. */
  private async callOff(c: TaskRun, own: readonly JobRecord[], calm: boolean): Promise<void> {
    const running = own.filter((j) => !isEndedJob(j) && j.cancel === undefined);
    if (running.length === 0) return;
    const look = this.service.look();
    for (const job of running) {
      const node = this.store.nodes.view.get(job.nodes[0] ?? '')?.value;
      if (calm && node !== undefined && servesOn(node, look.reasons(node))) continue;
      c.check();
      try {
        await this.jobs.cancel(job.id, 'muster');
      } catch (e) {
        const error = MusterError.from(e);
        // It has ended meanwhile.
        if (error.code !== 'BAD_REQUEST' && error.code !== 'JOB_UNKNOWN') throw error;
      }
    }
  }

  private fleetState(): FleetState {
    const { nodes, incidents, permits } = this.store;
    return {
      storm: (permits.view.get(PERMITS_KEY)?.value.trips ?? []).length > 0,
      incident: incidents.view.entries().some((e) => underWay.includes(e.value.phase)),
      blind: !this.store.live || (!this.service.sighted && nodes.view.entries().some((e) => e.value.enrolled)),
    };
  }

  private watched(now: number, look: Look): WatchedNode[] {
    const { held } = this.store;
    return this.store.nodes.view.entries().flatMap(({ value: n }) => {
      const isRefused = (this.notBefore.get(n.name) ?? 0) > now;
      if (isRefused || !mayBeChecked(n, look.reasons(n), held[n.name])) return [];
      return [{ name: n.name, last: lastLooked(n), failed: n.lastCheck?.failed ?? 0 }];
    });
  }

  private async start(c: TaskRun, name: string): Promise<void> {
    try {
      await this.operations.submit(
        { by: 'muster', kind: 'check', nodes: [name] },
        {
          cause: PERIODIC,
          check: () => c.check(),
          needs: (now) => isCalm(this.fleetState()) && mayBeChecked(now, this.service.reasons(now)),
        },
      );
      this.notBefore.delete(name);
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code === 'LEASE_LOST') throw error;
      this.notBefore.set(name, c.now + REFUSED_MS);
      this.store.bus.log.debug({ node: name, code: error.code }, `its periodic check waits: ${error.message}`);
    }
  }
}

/** Whoever asked for it. What was just set up was looked at as it was. */
const lastLooked = (n: NodeRecord): number | undefined =>
  newest([n.lastCheck?.at, n.provisioned?.at].filter((at) => at !== undefined));

const newest = (times: readonly number[]): number | undefined =>
  times.reduce<number | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

import { Injectable } from '@nestjs/common';
import { waitsForMoves, type JobRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { quietPhases } from '#domain/incident/phases.js';
import { isFailing, START_FAILED } from '#domain/workload/failed-starts.js';
import { isStopped } from '#domain/workload/owed-start.js';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { DegradedWatch } from '../nodes/degraded-watch.js';
import { NodeService } from '../nodes/node.service.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';
import { diedBefore } from './died-before.js';
import { HostsView } from './hosts.js';
import { beginning, decideMoves, notEmptyBecause, type MovePlan } from './moves.js';
import { StartFactsService } from '../reports/start-facts.js';
import { WorkloadService } from './workload.service.js';

/** What hinders a move for less than this is no news, ms: a report may be on its way. */
const ALARM_AFTER_MS = 3_000;

/**
 * Empties nodes: those that are being drained, those of a job that was ordered with `force` and waits for it, and
 * those that stay DEGRADED where the policy says so, until they are heard again on all of their networks. And takes from
 * a node what that does not get started. It begins the moves, and says when a node is empty; stopping, placing and starting are done by those who always do it.
 */
@Injectable()
export class MoveReconciler implements Reconciler {
  private readonly stuckSince: AgeBook;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly alarms: AlarmService,
    private readonly workloads: WorkloadService,
    private readonly facts: StartFactsService,
    private readonly hosts: HostsView,
    private readonly quarantine: PowerQuarantine,
    private readonly degraded: DegradedWatch,
  ) {
    this.stuckSince = new AgeBook(context.clock);
  }

  /** What the next round begins, and what stands in the way; undefined: a view has a gap, and nothing is begun. */
  preview(): { leaving: ReadonlyMap<string, string>; moving: WorkloadRecord[]; plan: MovePlan } | undefined {
    if (!this.store.live) return undefined;
    const { leaving, all, plan } = this.decide(this.draining(), this.waitingJobs());
    return { leaving, moving: all.filter((w) => w.move !== undefined), plan };
  }

  async reconcile(c: TaskRun): Promise<void> {
    if (!this.store.live) return;
    const drained = this.draining();
    const jobs = this.waitingJobs();
    const { all, plan } = this.decide(drained, jobs);
    const moving = new Set(all.map((w) => w.move?.from));
    // What was found out about a node already says more than that it is not empty.
    const stuck: Stuck = (node, why) => void (plan.stuck.has(node) || moving.has(node) || plan.stuck.set(node, [why]));
    await Promise.all([
      ...plan.begin.map((b) => c.isolated({ workload: b.workload }, () => this.begin(c, b))),
      ...plan.release.map((r) => c.isolated({ workload: r.workload }, () => this.release(c, r))),
      ...drained.map((n) => c.isolated({ node: n.name }, () => this.noteDrained(c, n, stuck))),
      ...jobs.map((j) => c.isolated({ job: j.id }, () => this.noteMoved(c, j, stuck))),
    ]);
    await keepAlarms(this.alarms, ['drain-stuck'], this.wanted(plan.stuck), () => void c.check());
  }

  private decide(
    drained: readonly NodeRecord[],
    jobs: readonly JobRecord[],
  ): { leaving: ReadonlyMap<string, string>; all: WorkloadRecord[]; plan: MovePlan } {
    const leaving = new Map<string, string>();
    for (const [node, step] of this.degraded.steps()) if (step === 'drain') leaving.set(node, 'degraded');
    for (const n of drained) leaving.set(n.name, 'drain');
    for (const job of jobs) for (const node of job.nodes) leaving.set(node, `job:${job.id}`);
    const all = this.store.workloads.view.entries().map((e) => e.value);
    const isIdle = leaving.size === 0 && !all.some(isFailing);
    const plan = decideMoves({
      leaving,
      workloads: all,
      hosts: isIdle ? [] : this.hosts.hosts(),
      reported: (node) => this.reported(node),
      isInIncident: (node) => this.isInIncident(node),
      unanswered: (workload) => this.facts.unansweredFor(workload),
      now: this.context.clock.wallMs(),
    });
    return { leaving, all, plan };
  }

  private async begin(c: TaskRun, b: MovePlan['begin'][number]): Promise<void> {
    const done = await this.workloads.change(b.workload, 'stopping', () => {
      c.check();
      return beginning(b, this.context.clock.wallMs());
    });
    if (done === undefined) return;
    if (b.move.cause === START_FAILED)
      this.context.log.warn({ workload: b.workload, ...b.move }, 'workload was not started, and goes elsewhere');
    else this.context.log.debug({ workload: b.workload, ...b.move }, 'workload begins to move');
  }

  private async release(c: TaskRun, r: MovePlan['release'][number]): Promise<void> {
    await this.workloads.change(r.workload, 'cleared', (now) => {
      c.check();
      return isStopped(now) ? { kind: 'cleared', from: r.node } : undefined;
    });
  }

  private async noteDrained(c: TaskRun, n: NodeRecord, stuck: Stuck): Promise<void> {
    if (n.cordon?.drained !== undefined) return;
    const reported = this.reported(n.name);
    const why = notEmptyBecause(n, this.seenOn([n.name]), reported);
    if (why !== undefined) return stuck(n.name, why);
    if (notEmptyBecause(n, await this.readOn([n.name]), reported) !== undefined) return;
    await this.nodes.change(n.name, (now) => {
      c.check();
      if (now.cordon?.drain !== true || now.cordon.drained !== undefined || now.cordon.at !== n.cordon?.at)
        return undefined;
      return { ...now, cordon: { ...now.cordon, drained: this.context.clock.wallMs() } };
    });
  }

  /** The job's list of what has still to leave; none: workers may take it. It ends where it would find a node dead. */
  private async noteMoved(c: TaskRun, job: JobRecord, stuck: Stuck): Promise<void> {
    const dead = diedBefore(job, await this.nodesOf(job));
    if (dead !== undefined) return this.callOff(c, job, dead);
    const seen = this.seenOn(job.nodes);
    const there = seen.length > 0 ? seen : await this.readOn(job.nodes);
    const moving = there.map((w) => w.name);
    if (moving.length === 0 && !(await this.areFree(job.nodes, stuck))) return;
    if (moving.sort().join() === job.moving?.join()) return;
    await this.store.jobs.bucket.mutate(job.id, (current) => {
      c.check();
      return current !== undefined && waitsForMoves(current.value) ? { ...current.value, moving } : undefined;
    });
  }

  private async callOff(c: TaskRun, job: JobRecord, dead: string): Promise<void> {
    const error = `${dead} was powered off before it began: order it again when it serves`;
    await this.store.jobs.bucket.mutate(job.id, (current) => {
      c.check();
      if (current === undefined || !waitsForMoves(current.value)) return undefined;
      const cancel = { by: 'muster', at: this.context.clock.wallMs() };
      return { ...current.value, cancel, status: 'Errored', error, endedAt: cancel.at };
    });
  }

  /** By a read: a view may not show yet that one of them was powered off. */
  private async nodesOf(job: JobRecord): Promise<NodeRecord[]> {
    const read = await Promise.all(job.nodes.map((name) => this.store.nodes.bucket.get(name)));
    return read.flatMap((entry) => entry?.value ?? []);
  }

  private async areFree(names: readonly string[], stuck: Stuck): Promise<boolean> {
    const all = await Promise.all(names.map((name) => this.isFree(name, stuck)));
    return all.every(Boolean);
  }

  /** Empty, and nothing is under way against its power: the incident that emptied it may have only just done so. */
  private async isFree(name: string, stuck: Stuck): Promise<boolean> {
    const node = (await this.store.nodes.bucket.get(name))?.value;
    if (node === undefined) return true;
    const incident = (await this.store.incidents.bucket.get(name))?.value;
    const why =
      notEmptyBecause(node, [], this.reported(name)) ??
      (incident && this.quarantine.reasonOf(incident)) ??
      (incident && !quietPhases.includes(incident.phase) ? 'It has an open incident.' : undefined);
    if (why !== undefined) stuck(name, why);
    return why === undefined;
  }

  /** By the view: enough to say that something is there. */
  private seenOn(nodes: readonly string[]): WorkloadRecord[] {
    const all = this.store.workloads.view.entries().map((e) => e.value);
    return all.filter((w) => nodes.includes(w.assignment?.node ?? ''));
  }

  /** By a full read, which alone can say that nothing is there: the view may miss what was assigned a moment ago. */
  private async readOn(nodes: readonly string[]): Promise<WorkloadRecord[]> {
    const all = (await this.store.workloads.bucket.list()).map((e) => e.value);
    return all.filter((w) => nodes.includes(w.assignment?.node ?? ''));
  }

  private draining(): NodeRecord[] {
    return this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => n.cordon?.drain === true);
  }

  private waitingJobs(): JobRecord[] {
    return this.store.jobs.view
      .entries()
      .map((e) => e.value)
      .filter(waitsForMoves);
  }

  private reported(node: string): ReadonlySet<string> | undefined {
    const workloads = this.facts.of(node)?.workloads;
    return workloads && new Set(workloads.map((w) => w.name));
  }

  private isInIncident(node: string): boolean {
    const incident = this.store.incidents.view.get(node)?.value;
    return incident !== undefined && !quietPhases.includes(incident.phase);
  }

  private wanted(stuck: ReadonlyMap<string, string[]>): WantedAlarm[] {
    this.stuckSince.keep(stuck.keys());
    return [...stuck]
      .filter(([node]) => this.stuckSince.ageMs(node) >= ALARM_AFTER_MS)
      .map(([subject, why]) => ({
        code: 'drain-stuck',
        subject,
        severity: 'warning',
        message: `Its workloads cannot all be moved away. ${why.slice(0, 5).join(' ')}`,
      }));
  }
}

type Stuck = (node: string, why: string) => void;

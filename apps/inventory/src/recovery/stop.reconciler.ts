import { Injectable } from '@nestjs/common';
import type { Assignment, WorkloadRecord } from '#contracts';
import { ServiceContext } from '#service';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { stopJob, stopOutcome } from '../plan/recover-job.js';
import { RecoverJobs } from './recover-jobs.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { retryLeftMs, runsThere, STILL_RUNS_MS, stopStep, type StopFacts, type StopStep } from '../plan/stop-step.js';
import { WorkloadService } from './workload.service.js';

/**
 * Every workload that shall not run, or is to leave its node: stopped there, and read back. Its alarm is raised with
 * those of the starts.
 */
@Injectable()
export class StopReconciler implements Reconciler {
  private readonly since: AgeBook;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly workloads: WorkloadService,
    private readonly facts: StartFactsService,
    private readonly jobs: RecoverJobs,
  ) {
    this.since = new AgeBook(context.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const stopping = this.stopping();
    const kept = new Set(stopping.map((w) => w.name));
    this.since.retain((key) => kept.has(key.split('/')[1] ?? ''));
    await Promise.all(stopping.map((w) => c.isolated({ workload: w.name }, () => this.one(c, w))));
  }

  /** What the next round does about each workload that shall not run, or not where it is, and is not yet stopped. */
  preview(): { workload: WorkloadRecord; step: StopStep; leftMs: number }[] {
    return this.stopping().flatMap((w) => {
      const f = this.look(w, w.assignment?.node ?? '', (key) => this.since.ageMs(key));
      const step = stopStep(f);
      const leftMs = retryLeftMs(f);
      return step === 'done' ? [] : [{ workload: w, step, leftMs }];
    });
  }

  private stopping(): WorkloadRecord[] {
    const all = this.store.workloads.view.entries().map((e) => e.value);
    return all.filter((w) => w.assignment !== undefined && (w.desired === 'stopped' || w.stop !== undefined));
  }

  private async one(c: TaskRun, w: WorkloadRecord): Promise<void> {
    const at = w.assignment;
    if (at === undefined) return;
    const step = stopStep(this.look(w, at.node, (key) => this.since.see(key)));
    if (step === 'owe')
      await this.workloads.change(w.name, 'stopping', () => {
        c.check();
        return { kind: 'stop-needed', generation: at.generation };
      });
    else if (step === 'give') await this.give(c, w);
    else if (step === 'follow') await this.follow(c, w);
    else if (step === 'read-back') await this.readBack(c, w, at);
  }

  /** Nothing of it runs there: what moves has left, what shall not run is stopped. */
  private async readBack(c: TaskRun, w: WorkloadRecord, at: Assignment): Promise<void> {
    await this.workloads.change(w.name, w.move === undefined ? 'stopped' : 'cleared', (now) => {
      c.check();
      return { kind: now.move === undefined ? 'stopped' : 'left', generation: at.generation };
    });
  }

  private look(w: WorkloadRecord, node: string, age: (key: string) => number): StopFacts {
    const report = this.facts.of(node);
    const seen = `seen/${w.name}/${w.generation}`;
    const runs = w.stop === undefined && runsThere({ workload: w, report });
    if (!runs) this.since.forget(seen);
    const attempt = w.stop?.attempt ?? 0;
    return {
      workload: w,
      report,
      seenForMs: runs ? age(seen) : 0,
      sinceFailureMs: attempt === 0 ? 0 : age(`retry/${w.name}/${w.generation}/${attempt}`),
    };
  }

  /** First the workload names the job, then it is written, so that it is never written twice. */
  private async give(c: TaskRun, w: WorkloadRecord): Promise<void> {
    const id = this.context.random.uuid();
    const handed = await this.workloads.change(w.name, undefined, () => {
      c.check();
      return { kind: 'stop-given', job: id, generation: w.assignment?.generation ?? -1 };
    });
    const job = handed && stopJob(id, handed, c.token, this.context.clock.wallMs());
    if (job !== undefined) await this.jobs.write(c, job);
  }

  private async follow(c: TaskRun, w: WorkloadRecord): Promise<void> {
    const id = w.stop?.job;
    const at = w.assignment;
    if (id === undefined || at === undefined) return;
    const job = await this.jobs.find(id);
    if (job === undefined) {
      // The conductor before this one named the job and went down before it wrote it.
      const again = stopJob(id, w, c.token, this.context.clock.wallMs());
      if (again !== undefined) await this.jobs.write(c, again);
      return;
    }
    const outcome = stopOutcome(job, at.node, w.name);
    if (outcome === undefined) return;
    if (outcome.stopped && w.move === undefined) return this.readBack(c, w, at);
    const why = outcome.stopped ? this.stillThere(w, at.node) : outcome.why;
    if (why === '') return this.readBack(c, w, at);
    if (why === undefined) return;
    await this.workloads.change(w.name, undefined, () => {
      c.check();
      return { kind: 'stop-failed', job: id, why, seen: outcome.seen };
    });
  }

  /**
   * Where it is to be started elsewhere, its node's own report must agree with the word of the job.
   * @returns '' where it does; undefined where that cannot be said yet; else what stands against it
   */
  private stillThere(w: WorkloadRecord, node: string): string | undefined {
    const report = this.facts.of(node);
    if (report?.workloads === undefined) return undefined;
    const key = `named/${w.name}/${w.generation}/${w.stop?.attempt ?? 0}`;
    if (runsThere({ workload: w, report }))
      return this.since.see(key) < STILL_RUNS_MS ? undefined : 'It was read back as stopped, and is reported still.';
    this.since.forget(key);
    return '';
  }
}

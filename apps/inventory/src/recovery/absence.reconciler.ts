import { Injectable } from '@nestjs/common';
import type { WorkloadRecord } from '#contracts';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { StartFactsService } from '../reports/start-facts.js';
import {
  absenceStep,
  absenceTold,
  isTimed,
  presenceOf,
  restartLeftMs,
  type AbsenceStep,
  type Presence,
} from '../plan/workload-absence.js';
import { WorkloadService } from './workload.service.js';

/** All workloads are looked at: a burst of changes is no reason to do that more often. */
const PACE: Pace = { everyMs: 500 };

/**
 * Workloads that stop on a node that is well, without an order: their start is owed again. The start itself is given by
 * those who give every start, after the same looks.
 */
@Injectable()
export class AbsenceReconciler implements Reconciler {
  /** Since when a workload is as it is. */
  private readonly since: AgeBook;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly workloads: WorkloadService,
    private readonly facts: StartFactsService,
  ) {
    this.since = new AgeBook(context.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    await c.every('look', PACE, () => this.lookAtAll(c));
  }

  private async lookAtAll(c: TaskRun): Promise<void> {
    if (!this.store.live) {
      // A gap in what is seen is no absence.
      this.since.keep([]);
      return;
    }
    const all = this.store.workloads.view.entries().map((e) => e.value);
    const wanted: WantedAlarm[] = [];
    const steps: { workload: WorkloadRecord; step: Exclude<AbsenceStep, 'none'> }[] = [];
    const seen = new Set<string>();
    for (const workload of all) {
      const { presence, key } = this.look(workload);
      if (key !== undefined) seen.add(key);
      const forMs = key === undefined ? 0 : this.since.see(key);
      const message = absenceTold(workload, presence, forMs);
      if (message !== undefined)
        wanted.push({ code: 'workload-ended', subject: workload.name, severity: 'warning', message });
      const step = absenceStep(workload, presence, forMs);
      if (step !== 'none') steps.push({ workload, step });
    }
    this.since.retain((key) => seen.has(key));
    await inParallel(steps, ({ workload, step }) =>
      c.isolated({ workload: workload.name }, () => this.step(c, workload, step)),
    );
    await keepAlarms(this.alarms, ['workload-ended'], wanted, () => void c.check());
  }

  /** Workloads that have ended by themselves and are to be started again; `leftMs`: until that is owed. */
  preview(): { workload: WorkloadRecord; leftMs: number }[] {
    if (!this.store.live) return [];
    return this.store.workloads.view.entries().flatMap(({ value: workload }) => {
      const { presence, key } = this.look(workload);
      const leftMs = restartLeftMs(workload, presence, key === undefined ? 0 : this.since.ageMs(key));
      return leftMs === undefined ? [] : [{ workload, leftMs }];
    });
  }

  /**
   * What it is now, and by which name: a new start of the agent, another boot or generation begins anew. `key` undefined:
   * for how long it has been so does not matter.
   */
  private look(w: WorkloadRecord): { presence: Presence; key: string | undefined } {
    const at = w.assignment?.node;
    const report = at === undefined ? undefined : this.facts.of(at);
    const node = at === undefined ? undefined : this.store.nodes.view.get(at)?.value;
    const incident = at === undefined ? undefined : this.store.incidents.view.get(at)?.value.phase;
    const presence = presenceOf({ workload: w, node, incident, report });
    const key = isTimed(w, presence)
      ? [w.name, presence, w.generation, report?.bootId, report?.epoch].join('/')
      : undefined;
    return { presence, key };
  }

  private async step(c: TaskRun, w: WorkloadRecord, step: Exclude<AbsenceStep, 'none'>): Promise<void> {
    const done = await this.workloads.change(w.name, step === 'owe' ? 'ended' : undefined, (now) => {
      c.check();
      if (now.generation !== w.generation || now.boot !== w.boot) return undefined;
      return step === 'owe' ? { kind: 'ended', at: this.context.clock.wallMs() } : { kind: 'steady' };
    });
    if (done !== undefined && step === 'owe')
      this.context.log.warn(
        { workload: w.name, node: w.assignment?.node, times: done.ended?.times },
        'workload has ended by itself: it is started again',
      );
  }
}

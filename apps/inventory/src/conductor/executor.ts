import { MusterError, type Clock, type Random, type TaskView } from '#contracts';
import type { Bus } from '#bus';
import { OneRun, type ConductorRight, type PacedParts } from './one-run.js';
import { Rounds } from './rounds.js';
import { Outcomes, TaskRecord } from './task-record.js';
import type { Reconciler, Source, Task } from './task.js';

interface Entry {
  task: Task;
  record: TaskRecord;
  rounds: Rounds;
  paced: PacedParts;
  failing: PacedParts;
}

/**
 * Runs each task in rounds of its own, so that one that is slow, hangs or fails holds up no other; nothing of it begins
 * without the lease, and nothing that it writes after a check was decided in another term.
 */
export class Executor {
  private readonly entries: Entry[] = [];

  constructor(
    private readonly right: ConductorRight,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly log: Pick<Bus['log'], 'debug' | 'error'>,
  ) {}

  add(task: Task): void {
    if (this.entries.some((e) => e.task.name === task.name))
      throw new MusterError('INTERNAL', `two tasks are called ${task.name}`);
    const entry: Entry = {
      task,
      record: new TaskRecord(task, this.clock),
      rounds: new Rounds(() => this.run(entry), this.clock),
      ...{ paced: new Map(), failing: new Map() },
    };
    this.entries.push(entry);
  }

  /** How each goes, as they were added. */
  list(): TaskView[] {
    return this.entries.map((e) => e.record.view());
  }

  /** How those go of which something has failed and not succeeded since: none, on most days. */
  failing(): TaskView[] {
    return this.entries.filter((e) => e.record.fails).map((e) => e.record.view());
  }

  /** Periods of its tasks, ms, each once. */
  get periods(): number[] {
    return [...new Set(this.entries.map((e) => e.task.periodMs))];
  }

  /** Runs every task soon. */
  wakeAll(): void {
    for (const { rounds } of this.entries) rounds.wake();
  }

  /** Runs those soon that watch it; many wakes make one run. */
  wake(source: Source): void {
    for (const { task, rounds } of this.entries) if (task.watches.includes(source)) rounds.wake();
  }

  /** Runs those soon whose period this is. */
  wakePeriodic(periodMs: number): void {
    for (const { task, rounds } of this.entries) if (task.periodMs === periodMs) rounds.wake();
  }

  /** Resolves when the runs in progress have ended; no further one starts. */
  async close(): Promise<void> {
    await Promise.all(this.entries.map((e) => e.rounds.close()));
  }

  /** Most runs find nothing to do, and are over when they return: undefined. */
  private run(entry: Entry): Promise<void> | undefined {
    const token = this.begin(entry);
    if (token === undefined) return undefined;
    const { task, record, paced, failing } = entry;
    const { right, clock, random, log } = this;
    const outcomes = new Outcomes(record.fails);
    const run = new OneRun(token, clock.monotonicMs(), {
      ...{ task: task.name, right, random, log, outcomes, paced, failing },
    });
    record.begun(token);
    const done = begun(task.reconciler, run);
    if (done !== undefined) return this.rest(done, run, { task: task.name, record, outcomes });
    outcomes.add({});
    record.ended(outcomes);
    return undefined;
  }

  /** Undefined: it may not begin, or nobody can say whether it may, and then it has failed. */
  private begin({ task: { name: task }, record }: Entry): number | undefined {
    try {
      return this.right.begin();
    } catch (cause) {
      const e = MusterError.from(cause);
      record.notBegun(e);
      this.log.error({ task, code: e.code, cause: e.cause }, `${task} cannot begin: ${e.message}`);
      return undefined;
    }
  }

  private async rest(
    done: Promise<void>,
    run: OneRun,
    { task, record, outcomes }: { task: string; record: TaskRecord; outcomes: Outcomes },
  ): Promise<void> {
    try {
      await done;
      outcomes.add({});
    } catch (cause) {
      const e = MusterError.from(cause);
      if (e.code === 'LEASE_LOST') this.log.debug({ task, code: e.code }, e.message);
      else run.failed({}, e);
    } finally {
      record.ended(outcomes);
    }
  }
}

function begun(reconciler: Reconciler, run: OneRun): Promise<void> | undefined {
  try {
    run.check();
    return reconciler.reconcile(run);
  } catch (cause) {
    return Promise.reject(MusterError.from(cause));
  }
}

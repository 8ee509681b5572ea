import { MusterError, type Clock, type Random, type TaskView } from '#contracts';
import type { Bus } from '#bus';
import { retryDelayMs } from './retry-policy.js';
import { Rounds } from './rounds.js';
import { Outcomes, TaskRecord } from './task-record.js';
import type { About, Pace, Source, Task, TaskRun } from './task.js';

/** The right to act as the one conductor. */
export interface ConductorRight {
  /** Token of the term in which a run may begin now; undefined: none may. */
  begin(): number | undefined;
  /** The token, right before an act. @throws LEASE_LOST */
  check(): number;
}

interface Entry {
  task: Task;
  record: TaskRecord;
  rounds: Rounds;
  /** Part that has a pace → monotonic ms from which it is due again, and how often in a row it has failed. */
  paced: Map<string, { dueAt: number; failures: number }>;
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
      paced: new Map(),
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

  private async run(entry: Entry): Promise<void> {
    const { task, record } = entry;
    const token = this.right.begin();
    if (token === undefined) return;
    const check = (): number => {
      // Lost and won again within one run: what it has read may be older than another conductor's acts.
      if (this.right.check() !== token)
        throw new MusterError('LEASE_LOST', 'The conductor lease changed hands in this run.');
      return token;
    };
    const outcomes = new Outcomes(record.fails);
    const attempt = async (about: About, act: () => Promise<unknown>): Promise<void> => {
      try {
        check();
        await act();
        outcomes.add(about);
      } catch (cause) {
        const e = MusterError.from(cause);
        if (e.code === 'LEASE_LOST') throw e;
        outcomes.add(about, e);
        this.log.error(
          { task: task.name, ...about, code: e.code, cause: e.cause },
          `${task.name} failed: ${e.message}`,
        );
      }
    };
    const isolated: TaskRun['isolated'] = (about, act) => {
      const part = attempt(about, act);
      // Parts are gathered first and awaited together: where the gathering fails, nobody awaits this one.
      part.catch(() => undefined);
      return part;
    };
    const now = this.clock.monotonicMs();
    const every: TaskRun['every'] = (part, pace, act) => this.every(entry, now, outcomes, part, pace, act);
    record.begun(token);
    try {
      await attempt({}, () => task.reconciler.reconcile({ token, now, check, isolated, every }));
    } catch (cause) {
      const { code, message } = MusterError.from(cause);
      this.log.debug({ task: task.name, code }, message);
    } finally {
      record.ended(outcomes);
    }
  }

  private async every(
    { paced }: Entry,
    now: number,
    outcomes: Outcomes,
    part: string,
    { everyMs, retry = { firstMs: everyMs } }: Pace,
    act: () => Promise<unknown>,
  ): Promise<void> {
    const { dueAt = -Infinity, failures = 0 } = paced.get(part) ?? {};
    if (now < dueAt) return;
    try {
      await act();
      paced.set(part, { dueAt: now + everyMs, failures: 0 });
      outcomes.add({ part });
    } catch (cause) {
      const e = MusterError.from(cause);
      const wait = retryDelayMs(retry, failures + 1, e, this.random.number());
      paced.set(part, { dueAt: now + wait, failures: failures + 1 });
      if (e.code !== 'LEASE_LOST') outcomes.add({ part }, e);
      throw e;
    }
  }
}

import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { conductorFloor, MusterError, Subjects, type TaskView, type Timer } from '#contracts';
import { Lease, tokenFloor, type Closable } from '#bus';
import { ServiceContext } from '#service';
import { InventoryStore } from '../store/inventory-store.js';
import { Executor } from './executor.js';
import type { Source, Task } from './task.js';

/** The conductor is asked how its tasks go for so long, ms: whoever asks has other things to tell. */
const ANSWER_MS = 500;

/** The one inventory process that drives incidents, recoveries and returns: holder of lease `conductor`. */
@Injectable()
export class ConductorService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly lease: Lease;
  private readonly executor: Executor;
  private readonly timers: Timer[] = [];
  private readonly answers: (() => Closable)[] = [];
  private answering: Closable[] = [];
  private unsubscribe: (() => void) | undefined;
  /** Of the records as they are; undefined: one has changed since it was looked for. */
  private highest: { token: number } | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
  ) {
    const floor = (): Promise<number> => tokenFloor(context.bus, () => this.highestToken());
    this.lease = new Lease(context.bus, { name: 'conductor', holder: context.config.instance, floor });
    this.executor = new Executor(
      { begin: () => this.begin(), check: () => this.lease.check() },
      context.clock,
      context.random,
      context.log,
    );
    this.answer(Subjects.tasks(), (): Promise<TaskView[]> => Promise.resolve(this.executor.list()));
  }

  /** To be called before the application starts. @throws INTERNAL where another has the same name */
  add(task: Task): void {
    this.executor.add(task);
  }

  /** Answered by this process while it holds the lease; to be called before the application is up. */
  answer<Q, A>(subject: string, handle: (request: Q, token: number) => Promise<A>): void {
    this.answers.push(() => this.context.bus.answer<Q, A>(subject, (q) => handle(q, this.lease.check())));
  }

  get held(): boolean {
    return this.lease.held;
  }

  /** Tasks of this process of which something fails. */
  failingTasks(): TaskView[] {
    return this.executor.failing();
  }

  /** How the tasks go, by whoever holds the lease; undefined: nobody answers. */
  async tasks(): Promise<TaskView[] | undefined> {
    if (this.lease.held) return this.executor.list();
    try {
      return await this.context.bus.ask<TaskView[]>(Subjects.tasks(), {}, { timeoutMs: ANSWER_MS });
    } catch (cause) {
      const { code, message } = MusterError.from(cause);
      this.context.log.debug({ code }, `no conductor says how its tasks go: ${message}`);
      return undefined;
    }
  }

  /** Runs those tasks soon that watch it. Does nothing on a replica that does not hold the lease. */
  wake(source: Source): void {
    if (this.lease.held) this.executor.wake(source);
  }

  onApplicationBootstrap(): void {
    this.lease.on((event, token) => {
      this.context.log.debug({ token }, event === 'acquired' ? 'this is the conductor now' : 'no longer the conductor');
      void this.answerNot();
      if (event === 'acquired') this.answering = this.answers.map((begin) => begin());
      if (this.lease.held) this.executor.wakeAll();
    });
    this.lease.start();
    this.unsubscribe = this.store.onChange((source) => {
      if (source === 'incidents' || source === 'jobs') this.highest = undefined;
      this.wake(source);
    });
    for (const period of this.executor.periods)
      this.timers.push(
        this.context.clock.every(period, () => {
          if (this.lease.held) this.executor.wakePeriodic(period);
        }),
      );
  }

  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) timer.cancel();
    this.unsubscribe?.();
    await this.answerNot();
    await this.executor.close();
    await this.lease.stop();
  }

  private async answerNot(): Promise<void> {
    const all = this.answering;
    this.answering = [];
    await Promise.all(all.map((a) => this.close(a)));
  }

  /** Its next term, and the end of the process, do not wait for it. */
  private async close(answer: Closable): Promise<void> {
    try {
      await answer.close();
    } catch (cause) {
      const { code, message } = MusterError.from(cause);
      this.context.log.warn({ code }, `an answer of the conductor was not withdrawn: ${message}`);
    }
  }

  /** A record with a token above the own one: the lease is taken anew first. */
  private begin(): number | undefined {
    if (!this.lease.held) return undefined;
    const found = this.highestToken() ?? 0;
    return found > this.lease.token && this.lease.raise(found) ? undefined : this.lease.token;
  }

  private highestToken(): number | undefined {
    const { incidents, jobs } = this.store;
    if (!incidents.view.live || !jobs.view.live) return undefined;
    // Asked for before each run of each task. Before changes are followed it is looked for each time.
    const token =
      this.highest?.token ??
      conductorFloor(
        incidents.view.entries().map((e) => e.value),
        jobs.view.entries().map((e) => e.value),
      );
    if (this.unsubscribe !== undefined) this.highest = { token };
    return token;
  }
}

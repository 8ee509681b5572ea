import { MusterError, type Random } from '#contracts';
import type { Bus } from '#bus';
import { retryDelayMs } from './retry-policy.js';
import type { Outcomes } from './task-record.js';
import type { About, Pace, TaskRun } from './task.js';

/** The right to act as the one conductor. */
export interface ConductorRight {
  /** Token of the term in which a run may begin now; undefined: none may. */
  begin(): number | undefined;
  /** The token, right before an act. @throws LEASE_LOST */
  check(): number;
}

/** Part that has a pace → monotonic ms from which it is due again, and how often in a row it has failed. */
export type PacedParts = Map<string, { dueAt: number; failures: number }>;

export interface OneRunParts {
  task: string;
  right: Pick<ConductorRight, 'check'>;
  random: Random;
  log: Pick<Bus['log'], 'error'>;
  outcomes: Outcomes;
  paced: PacedParts;
}

/** See {@link TaskRun}. */
export class OneRun implements TaskRun {
  /** Parts of it that have failed so far. */
  private failures = 0;

  constructor(
    readonly token: number,
    readonly now: number,
    private readonly p: OneRunParts,
  ) {}

  check(): number {
    // Lost and won again within one run: what it has read may be older than another conductor's acts.
    if (this.p.right.check() !== this.token)
      throw new MusterError('LEASE_LOST', 'The conductor lease changed hands in this run.');
    return this.token;
  }

  isolated(about: About, act: () => Promise<unknown>): Promise<void> {
    const part = this.attempt(about, act);
    // Parts are gathered first and awaited together: where the gathering fails, nobody awaits this one.
    part.catch(() => undefined);
    return part;
  }

  every(part: string, pace: Pace, act: () => Promise<unknown> | undefined): Promise<void> | undefined {
    const { dueAt = -Infinity, failures = 0 } = this.p.paced.get(part) ?? {};
    return this.now < dueAt ? undefined : this.paced(part, pace, act, failures);
  }

  /** It, or a part of it, has failed: that is logged, and shown of the task. */
  failed(about: About, e: MusterError): void {
    const { task, log, outcomes } = this.p;
    this.failures += 1;
    outcomes.add(about, e);
    log.error({ task, ...about, code: e.code, cause: e.cause }, `${task} failed: ${e.message}`);
  }

  private async attempt(about: About, act: () => Promise<unknown>): Promise<void> {
    try {
      this.check();
      await act();
      this.p.outcomes.add(about);
    } catch (cause) {
      const e = MusterError.from(cause);
      if (e.code === 'LEASE_LOST') throw e;
      this.failed(about, e);
    }
  }

  private async paced(
    part: string,
    { everyMs, retry = { firstMs: everyMs } }: Pace,
    act: () => Promise<unknown> | undefined,
    failures: number,
  ): Promise<void> {
    const { paced, outcomes, random } = this.p;
    const before = this.failures;
    const failed = (e?: MusterError): void => {
      const wait = retryDelayMs(retry, failures + 1, e, random.number());
      paced.set(part, { dueAt: this.now + wait, failures: failures + 1 });
    };
    try {
      await act();
      if (this.failures > before) failed();
      else paced.set(part, { dueAt: this.now + everyMs, failures: 0 });
      outcomes.add({ part });
    } catch (cause) {
      const e = MusterError.from(cause);
      failed(e);
      if (e.code !== 'LEASE_LOST') outcomes.add({ part }, e);
      throw e;
    }
  }
}

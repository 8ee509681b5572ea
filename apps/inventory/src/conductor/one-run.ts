import { MusterError, type Random } from '#contracts';
import type { Bus } from '#bus';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';
import type { Outcomes } from './task-record.js';
import { PERIOD_MS, type About, type Pace, type TaskRun } from './task.js';

/** The right to act as the one conductor. */
export interface ConductorRight {
  /** Token of the term in which a run may begin now; undefined: none may. */
  begin(): number | undefined;
  /** The token, right before an act. @throws LEASE_LOST */
  check(): number;
}

/** Part that has a pace → monotonic ms from which it is due again, and how often in a row it has failed. */
export type PacedParts = Map<string, { dueAt: number; failures: number }>;

/**
 * In a fleet in which much changes there are a hundred runs a second: what fails each time is tried less often. It waits no
 * longer than a run that nothing wakes.
 */
const PART_RETRY: RetryPolicy = { firstMs: 50, growth: 2, mostMs: PERIOD_MS };

/** What failed, and was not tried again for so long once it was due, is not there any more, ms. */
const FORGOTTEN_MS = 60 * PERIOD_MS;

const DONE = Promise.resolve();

export interface OneRunParts {
  task: string;
  right: Pick<ConductorRight, 'check'>;
  random: Random;
  log: Pick<Bus['log'], 'error'>;
  outcomes: Outcomes;
  paced: PacedParts;
  /** Isolated parts that have failed and not succeeded since. */
  failing: PacedParts;
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

  isolated(about: About, act: () => Promise<unknown>, what = ''): Promise<void> {
    const { failing, outcomes } = this.p;
    if (failing.size > 0 && this.now < (failing.get(partOf(about, what))?.dueAt ?? -Infinity)) {
      this.failures += 1;
      outcomes.waits(about);
      return DONE;
    }
    const part = this.attempt(about, act, what);
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

  private async attempt(about: About, act: () => Promise<unknown>, what: string): Promise<void> {
    const { failing, outcomes } = this.p;
    try {
      this.check();
      await act();
      outcomes.add(about);
      if (failing.size > 0) failing.delete(partOf(about, what));
    } catch (cause) {
      const e = MusterError.from(cause);
      if (e.code === 'LEASE_LOST') throw e;
      this.failed(about, e);
      this.retryLater(partOf(about, what));
    }
  }

  private retryLater(part: string): void {
    const { failing } = this.p;
    for (const [key, { dueAt }] of failing) if (this.now - dueAt > FORGOTTEN_MS) failing.delete(key);
    const failures = (failing.get(part)?.failures ?? 0) + 1;
    failing.set(part, { dueAt: this.now + retryDelayMs(PART_RETRY, failures), failures });
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

const partOf = (about: About, what: string): string => JSON.stringify([what, about]);

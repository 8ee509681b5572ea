import type { Clock, MusterError, TaskView } from '#contracts';
import type { About, TaskPlan } from './task.js';

/** A part that failed and is not tried again for so long, ms, is gone: nobody will see it succeed. No part waits longer. */
const FORGOTTEN_MS = 150_000;

/** What has become of the parts of one run. The whole of it is the part that is about nothing. */
export class Outcomes {
  readonly byPart = new Map<string, MusterError | undefined>();
  private readonly waiting = new Set<string>();

  /** @param fails a part of the task has failed before: a success is worth noting. A run may have thousands of parts. */
  constructor(private readonly fails: boolean) {}

  /** A part of which anything failed has failed. */
  add(about: About, error?: MusterError): void {
    if (error === undefined && !this.fails) return;
    const part = partOf(about);
    this.byPart.set(part, this.byPart.get(part) ?? error);
  }

  /** Something of it has failed before, and is not due yet: whatever else of it succeeds, it has not. */
  waits(about: About): void {
    this.waiting.add(partOf(about));
  }

  hasSucceeded(part: string): boolean {
    return this.byPart.get(part) === undefined && !this.waiting.has(part);
  }
}

const partOf = (about: About): string =>
  Object.entries(about)
    .map(([what, which]) => `${what} ${which}`)
    .join(', ');

/** One part of a task, or the whole of it, that has not succeeded since. */
interface Failing {
  times: number;
  /** Monotonic ms of the first and of the latest failure in a row. */
  since: number;
  latest: number;
  error: NonNullable<TaskView['lastError']>;
}

/** How the runs of a task have gone in the present term: each new conductor begins anew. */
export class TaskRecord {
  private term: number | undefined;
  private lastRun: number | undefined;
  private lastMs: number | undefined;
  private runningSince: number | undefined;
  private lastError: TaskView['lastError'];
  private readonly failing = new Map<string, Failing>();

  constructor(
    private readonly plan: TaskPlan,
    private readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>,
  ) {}

  /** Something of it has failed, and not succeeded since. */
  get fails(): boolean {
    return this.failing.size > 0;
  }

  begun(token: number): void {
    if (token !== this.term) {
      this.term = token;
      this.lastMs = this.lastError = undefined;
      this.failing.clear();
    }
    this.lastRun = this.clock.wallMs();
    this.runningSince = this.clock.monotonicMs();
  }

  /** It has failed before it knew its term. */
  notBegun(e: MusterError): void {
    this.failed('', e);
  }

  ended(outcomes: Outcomes): void {
    this.lastMs = Math.round(this.clock.monotonicMs() - (this.runningSince ?? 0));
    this.runningSince = undefined;
    for (const [part, error] of outcomes.byPart)
      if (error !== undefined) this.failed(part, error);
      else if (outcomes.hasSucceeded(part)) this.failing.delete(part);
  }

  view(): TaskView {
    const now = this.clock.monotonicMs();
    for (const [part, { latest }] of this.failing) if (now - latest > FORGOTTEN_MS) this.failing.delete(part);
    const longest = [...this.failing.values()].reduce<Failing | undefined>(
      (a, b) => (a === undefined || b.since < a.since ? b : a),
      undefined,
    );
    const lastError = longest?.error ?? this.lastError;
    return {
      name: this.plan.name,
      watches: [...this.plan.watches],
      periodMs: this.plan.periodMs,
      severity: this.plan.severity,
      ...(this.lastRun !== undefined && { lastRun: this.lastRun }),
      ...(this.lastMs !== undefined && { lastMs: this.lastMs }),
      ...(this.runningSince !== undefined && { runningMs: Math.round(now - this.runningSince) }),
      errors: longest?.times ?? 0,
      errorsForMs: longest === undefined ? 0 : Math.round(now - longest.since),
      ...(lastError !== undefined && { lastError }),
    };
  }

  private failed(part: string, e: MusterError): void {
    const now = this.clock.monotonicMs();
    const { times = 0, since = now } = this.failing.get(part) ?? {};
    const error = { at: this.clock.wallMs(), code: e.code, message: e.message, ...(part !== '' && { about: part }) };
    this.lastError = error;
    this.failing.set(part, { times: times + 1, since, latest: now, error });
  }
}

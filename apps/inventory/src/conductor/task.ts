import type { AlarmRecord } from '#contracts';
import type { RetryPolicy } from '#domain/retry/retry-policy.js';

/** What a task may be woken by: a change in a bucket, among the workers, or in what this process knows besides. */
const Sources = [
  'nodes',
  'incidents',
  'jobs',
  'workloads',
  'settings',
  'admission',
  'workers',
  /** A record that nobody can read was found, or is gone. */
  'unreadable-records',
  /** What a power device says of whose it is was read. */
  'identity-reads',
] as const;
export type Source = (typeof Sources)[number];

/** A task that misses no change. */
export const EVERYTHING: readonly Source[] = Sources;

/** What a part of a run is about, as it stands in a log line: `{ node: 'host-1' }`. */
export type About = Readonly<Record<string, string>>;

/** The right of one run of a task: held by the conductor only. */
export interface TaskRun {
  /** Epoch of the lease; written into every incident, job and assignment that the run decides. */
  readonly token: number;
  /** Monotonic ms of this process at the start of the run. */
  readonly now: number;
  /**
   * To be asked right before each write of the run.
   * @returns the token
   * @throws MusterError LEASE_LOST when another may hold the lease by now
   */
  check(): number;
  /**
   * A part of the run that must not hold up the others: it begins at once where the lease is held, and what it throws
   * is logged with what it is about. One that has failed is left out until it is due again: after 50 ms, doubled up to the
   * period of a task.
   * @param what is done: of one about which several things are, each is tried again by itself
   * @throws MusterError LEASE_LOST, and nothing else: that ends the run
   */
  isolated(about: About, act: () => Promise<unknown>, what?: string): Promise<void>;
  /**
   * Does it where it was last begun `everyMs` ago or longer, also in another term of this process, and where a failure
   * has waited its time. What it throws is thrown. Undefined: it was not due.
   */
  every(part: string, pace: Pace, act: () => Promise<unknown> | undefined): Promise<void> | undefined;
}

/** How often a part of a task is done at most, however often the task is woken. */
export interface Pace {
  /** From one beginning to the next, ms. */
  readonly everyMs: number;
  /** After a failure, also of an isolated part of it. @default everyMs */
  readonly retry?: RetryPolicy;
}

/**
 * One concern that the conductor drives: from the records as they are towards what they should be. Level-triggered: it
 * looks at all of its records each run, so that a crash at any moment, or a lost wake-up, costs one period.
 */
export interface Reconciler {
  /** Undefined: there was nothing to wait for, as most often where nothing is to be done. */
  reconcile(run: TaskRun): Promise<void> | undefined;
}

/** How often a task runs that nothing wakes, ms. */
export const PERIOD_MS = 1000;

/** How a concern is run. */
export interface TaskPlan {
  /** Stable: it stands in log lines, in alarms and in the API. */
  readonly name: string;
  /** What wakes it. It runs at the beginning of each term as well. */
  readonly watches: readonly Source[];
  /** Where nothing wakes it, it runs this often, ms. */
  readonly periodMs: number;
  /** How bad it is that it fails again and again: by a critical one, what is dead may stay unrecovered. */
  readonly severity: AlarmRecord['severity'];
}

export interface Task extends TaskPlan {
  readonly reconciler: Reconciler;
}

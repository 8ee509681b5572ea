export interface Assignment {
  node: string;
  /** Grows with every assignment: starts and gates refuse an older one. */
  generation: number;
  /**
   * Generation of the run that the registry has followed to this node: the unit that was made for it asks the start gate
   * with that number when it starts again by itself. Gone with the next order.
   */
  followed?: number;
}

/** Bucket `workloads`. */
export interface WorkloadRecord {
  name: string;
  desired: 'running' | 'stopped';
  /** Higher goes first. @default 0 */
  priority: number;
  /** Only nodes of this host group; absent: any. */
  hostGroup?: string;
  /** Against the node's capacity. @default 1 */
  weight: number;
  /** How it is started and stopped: driver one of RecoveryDrivers, spec a RecoverySpecRequest when it was put. */
  recovery: { driver: string; spec: Record<string, unknown> };
  assignment?: Assignment;
  /** Highest generation ever given, also after the assignment was cleared. */
  generation: number;
  /** Why it does not run although it should. While it is set the start gates refuse. */
  held?: string;
  /**
   * A start that is owed on the assigned node: set together with the assignment, taken away when the start has
   * succeeded or a report shows the workload there. Survives every crash, so no accepted recovery is lost.
   */
  start?: StartOwed;
  /**
   * A stop that is owed on the assigned node: set together with `desired: stopped` or with `move`, taken away when the
   * node has read back that nothing of it runs. `desired: stopped` without it is read back as stopped. While it is set
   * the start gates refuse. Survives every crash.
   */
  stop?: StopOwed;
  /**
   * On its way from one living node to another: stopped there, then, once that was read back, assigned elsewhere and
   * started. Taken away when it runs again, or when something else (an incident, an operator) decides about it.
   */
  move?: Move;
  /** Boot of the assigned node under which it was last seen running: another boot means that it was lost. */
  boot?: string;
  /**
   * It has ended by itself so often in a row on the node that it is assigned to, without an order, an incident or a
   * reboot. Taken away when it has run on for ten minutes, or leaves that node.
   */
  ended?: Ended;
  /** Nodes that did not get it started and that it was taken from for that: for a while others are preferred. */
  failedOn?: FailedOn[];
}

export interface FailedOn {
  node: string;
  /** Wall clock. */
  at: number;
}

export interface Ended {
  times: number;
  /** Wall clock of the last time, for people. */
  at: number;
}

export interface Move {
  /**
   * `drain`, `degraded` by the policy for such nodes, `job:<id>` of an operation that was ordered with `force`, or
   * `start-failed` where `from` did not get it started.
   */
  cause: string;
  from: string;
  /** Where there was room when the move began; that room is kept until it has left `from`. */
  to: string;
}

export interface StartOwed {
  /** `incident:<id>`, `reboot:<bootId>`, `ended`, `put`, `run-again`, `unassigned`, `move:<cause>`. */
  cause: string;
  /** The recover job that carries it out now. Written before the job's own record. */
  job?: string;
  /** Failed tries so far. */
  attempt: number;
}

export interface StopOwed {
  /** `put`: an operator's order. `seen`: it ran although it shall not. `move:<cause>`: it is to run elsewhere. */
  cause: string;
  /** The recover job that carries it out now. Written before the job's own record. */
  job?: string;
  /** Failed tries so far. */
  attempt: number;
  /** Why the last try failed. */
  why?: string;
}

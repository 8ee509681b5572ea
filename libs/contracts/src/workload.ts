export interface Assignment {
  node: string;
  /** Grows with every assignment: starts and gates refuse an older one. */
  generation: number;
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
  recovery: { driver: 'ansible' | 'ssh' | 'event'; spec: Record<string, unknown> };
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
   * A stop that is owed on the assigned node: set together with `desired: stopped`, taken away when the node has read
   * back that nothing of it runs. `desired: stopped` without it is read back as stopped. Survives every crash.
   */
  stop?: StopOwed;
  /** Boot of the assigned node under which it was last seen running: another boot means that it was lost. */
  boot?: string;
}

export interface StartOwed {
  /** `incident:<id>`, `reboot:<bootId>`, `put`. */
  cause: string;
  /** The recover job that carries it out now. Written before the job's own record. */
  job?: string;
  /** Failed tries so far. */
  attempt: number;
}

export interface StopOwed {
  /** `put`: an operator's order. `seen`: it ran although it shall not. */
  cause: string;
  /** The recover job that carries it out now. Written before the job's own record. */
  job?: string;
  /** Failed tries so far. */
  attempt: number;
  /** Why the last try failed. */
  why?: string;
}

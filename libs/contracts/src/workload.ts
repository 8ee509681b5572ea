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
  /** Why it does not run although it should. */
  held?: string;
}

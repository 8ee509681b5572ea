import type { WorkloadRecord } from '#contracts';

/** Where a workload stands by its record alone: what is owed, and whether a job has taken it. */
export const WorkloadStages = [
  /** Shall run, and is assigned to no node. */
  'unplaced',
  /** Assigned, and its start is owed: no job has it. */
  'start-owed',
  /** A job has its start. */
  'starting',
  /** Assigned, and nothing is owed. */
  'running',
  /** Shall run elsewhere: the stop on the node that it leaves is owed. */
  'leave-owed',
  /** A job has that stop. */
  'leaving',
  /** Shall not run: its stop is owed. */
  'stop-owed',
  /** A job has that stop. */
  'stopping',
  /** Shall not run, and was read back so by the node that it is assigned to. */
  'stopped',
  /** Shall not run, and is assigned to no node. */
  'idle',
] as const;
export type WorkloadStage = (typeof WorkloadStages)[number];

export function stageOf(w: Pick<WorkloadRecord, 'desired' | 'assignment' | 'start' | 'stop'>): WorkloadStage {
  const isWanted = w.desired === 'running';
  if (w.assignment === undefined) return isWanted ? 'unplaced' : 'idle';
  if (w.stop !== undefined)
    return isWanted
      ? w.stop.job === undefined
        ? 'leave-owed'
        : 'leaving'
      : w.stop.job === undefined
        ? 'stop-owed'
        : 'stopping';
  if (w.start !== undefined) return w.start.job === undefined ? 'start-owed' : 'starting';
  return isWanted ? 'running' : 'stopped';
}

/**
 * What stands against a record, in a sentence; undefined: nothing. A change of the table in changes.ts makes no record of
 * which this speaks out of one of which it does not.
 */
export function malformed(w: WorkloadRecord): string | undefined {
  const at = w.assignment;
  if (at !== undefined && at.generation > w.generation) return 'its assignment is newer than any that was given';
  if (w.start !== undefined && (at === undefined || w.desired !== 'running')) return 'it owes a start nowhere';
  if (w.stop !== undefined && at === undefined) return 'it owes a stop nowhere';
  if (w.start !== undefined && w.stop !== undefined) return 'it owes a start and a stop';
  if (w.stop !== undefined && w.desired === 'running' && w.move?.from !== at?.node) return 'it leaves without a move';
  if (w.move !== undefined && w.desired !== 'running') return 'it moves, and shall not run';
  if (w.start?.job !== undefined && w.held !== undefined) return 'it is held, and a job has its start';
  if (w.ended !== undefined && (at === undefined || w.desired !== 'running')) return 'it has ended nowhere';
  return undefined;
}

import type { RecoveryAssignment, WorkloadRecord } from '#contracts';
import { TRIES_OF_ONE_ORDER } from '#domain/workload/failed-starts.js';

/** One line of the incident's recovery, as the workload's own record has it now. */
export function recoveryOf(r: RecoveryAssignment, w: WorkloadRecord | undefined, noRoom: boolean): RecoveryAssignment {
  const base: RecoveryAssignment = { workload: r.workload, from: r.from, state: 'waiting' };
  if (w === undefined) return { ...base, state: 'skipped', detail: 'It was deleted.' };
  if (w.assignment?.node === r.from) return base;
  if (w.desired !== 'running') return { ...base, state: 'skipped', detail: 'It shall not run.' };
  const held = w.held === undefined ? {} : { detail: w.held };
  if (w.assignment === undefined) return { ...base, ...held, state: noRoom ? 'no-room' : 'waiting' };
  const to = { ...base, ...held, to: w.assignment.node, generation: w.assignment.generation };
  // Taken from there again: it is no start of this incident any more.
  if (w.stop !== undefined) return { ...to, state: 'held' };
  if (w.start === undefined) return { ...to, state: 'running' };
  // It is tried on for ever, but not under this incident: one bad unit must not keep its old node off, nor the brake on.
  if (w.start.attempt >= TRIES_OF_ONE_ORDER) return { ...to, state: 'held' };
  if (w.start.job !== undefined) return { ...to, job: w.start.job, state: 'starting' };
  return { ...to, state: w.held === undefined || w.start.attempt > 0 ? 'waiting' : 'held' };
}

/** Nothing more is to be done for it here: it runs, shall not run, or has an alarm of its own (no room, held). */
export const isSettledRecovery = (r: RecoveryAssignment): boolean =>
  r.state === 'running' || r.state === 'skipped' || r.state === 'no-room' || r.state === 'held';

import type { IncidentRecord, RecoveryAssignment, WorkloadRecord } from '#contracts';
import { go } from '#domain/incident/steps.js';
import { TRIES_OF_ONE_ORDER } from '#domain/workload/failed-starts.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { isUnplaced } from '../workloads/room.js';
import { conducted, type Conducting } from '../conducted.js';
import { decidePowerOn } from './power-on.js';
import { isStillOff, waiting } from './recovery-start.js';

/**
 * One line of the incident's recovery, as the workload's own record has it now.
 * @param isBack its node is on again, and may have it like any other
 */
export function recoveryOf(
  r: RecoveryAssignment,
  w: WorkloadRecord | undefined,
  noRoom: boolean,
  isBack = false,
): RecoveryAssignment {
  const base: RecoveryAssignment = { workload: r.workload, from: r.from, state: 'waiting' };
  if (w === undefined) return { ...base, state: 'skipped', detail: 'It was deleted.' };
  if (w.assignment?.node === r.from && !isBack) return base;
  if (w.desired !== 'running') return { ...base, state: 'skipped', detail: 'It shall not run.' };
  const held = w.held === undefined ? {} : { detail: w.held };
  // While its node is on, a death of it is an incident of its own: this one does not wait for other nodes.
  const isOthers = isBack && w.held !== undefined;
  if (w.assignment === undefined)
    return { ...base, ...held, state: noRoom ? 'no-room' : isOthers ? 'held' : 'waiting' };
  const to = { ...base, ...held, to: w.assignment.node, generation: w.assignment.generation };
  // What is owed to it there waits for its check, which waits for this recovery.
  if (w.assignment.node === r.from)
    return { ...to, state: w.start === undefined && w.stop === undefined ? 'running' : 'held' };
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

/** What was assigned to the node since its work was taken from it. */
export function assignedLate(i: Pick<IncidentRecord, 'id' | 'node' | 'recovery'>, fleet: Fleet): RecoveryAssignment[] {
  if (!isStillOff(i, fleet.nodes.get(i.node)?.value)) return [];
  const known = new Set(i.recovery.map((r) => r.workload));
  const late = assignedTo(fleet, i.node).filter((w) => !known.has(w.name));
  return late.map((w) => waiting(w.name, i.node));
}

/**
 * The incident with its recovery as the workloads stand, recovered once nothing more is to be done for them; undefined:
 * nothing of it has changed.
 * @param late see {@link assignedLate}: from now on they are part of it
 * @param hasNoRoom no node has room for this workload
 */
export function followed(
  now: IncidentRecord,
  by: Conducting,
  late: readonly RecoveryAssignment[],
  hasNoRoom: (workload: string) => boolean,
): IncidentRecord | undefined {
  if (now.phase !== 'recovering') return undefined;
  const { workloads, nodes, settings, wallMs: at } = by.fleet;
  const known = new Set(now.recovery.map((r) => r.workload));
  const isBack = !isStillOff(now, nodes.get(now.node)?.value);
  const recovery = [...now.recovery, ...late.filter((r) => !known.has(r.workload))].map((r) => {
    const w = workloads.get(r.workload)?.value;
    return recoveryOf(r, w, w !== undefined && isUnplaced(w) && hasNoRoom(w.name), isBack);
  });
  if (!workloads.live || !recovery.every(isSettledRecovery)) {
    const isSame = JSON.stringify(recovery) === JSON.stringify(now.recovery);
    return isSame ? undefined : conducted(now, by, { ...now, updatedAt: at, recovery });
  }
  const power = decidePowerOn(now, settings.fencing, nodes.get(now.node)?.value, at);
  const done = go(now, 'recovered', outcome(recovery), at);
  return conducted(now, by, { ...done, recovery, powerOn: { ...power, requestedAt: at } });
}

function outcome(recovery: readonly RecoveryAssignment[]): string {
  if (recovery.length === 0) return 'Nothing ran there.';
  const say = (r: RecoveryAssignment): string =>
    r.state === 'running' ? `${r.workload} on ${r.to ?? '?'}` : `${r.workload} ${r.state}`;
  const shown = recovery.slice(0, 20).map(say).join(', ');
  return recovery.length > 20 ? `${shown} and ${recovery.length - 20} more.` : `${shown}.`;
}

import type { IncidentRecord, WorkloadRecord } from '#contracts';
import { isAfterOff, isVoid } from '../incident/phases.js';
import { INCIDENT } from './causes.js';

/**
 * Why a workload may still run on a node that was powered off, or is to be. `in-doubt`: that node's proof of off is in
 * doubt or void. `unreadable`: its incident cannot be read, and it does not speak. `unseen`: nobody can say now.
 */
export type Bar = { is: 'in-doubt' | 'unreadable'; node: string } | { is: 'unseen' };

type Taken = Pick<IncidentRecord, 'node' | 'recovery'>;

/** What was taken from a node whose proof of off, by the record, is in doubt or void. */
export function takenInDoubt(i: IncidentRecord): Taken[] {
  if (isAfterOff(i)) return i.proof?.doubt === undefined ? [] : [i];
  return isVoid(i) && i.contradiction !== undefined ? [{ node: i.node, recovery: i.contradiction.recovery }] : [];
}

/** What of an incident says whether it has taken a workload. */
export type Taker = Pick<IncidentRecord, 'id' | 'node' | 'phase' | 'recovery' | 'unreadable'>;

type Asked = Pick<WorkloadRecord, 'name' | 'assignment' | 'move' | 'start'>;

/**
 * What stands against a start of the workload anywhere, by the incidents as they are on record.
 * @param speaks the node says itself what it runs: that is asked elsewhere
 */
export function barOnRecord(
  w: Asked,
  incidents: readonly IncidentRecord[],
  speaks: (node: string) => boolean,
): Bar | undefined {
  const inDoubt = incidents.flatMap(takenInDoubt).find((t) => t.recovery.some((r) => r.workload === w.name));
  return inDoubt === undefined ? unreadableBar(w, incidents, speaks) : { is: 'in-doubt', node: inDoubt.node };
}

/**
 * An incident that cannot be read may have taken it, and its proof may be in doubt. What another incident has taken, or
 * what was moved by a job, is not from there.
 */
export function unreadableBar(
  w: Asked,
  incidents: readonly Taker[],
  speaks: (node: string) => boolean,
): Bar | undefined {
  const unread = incidents.find((i) => i.unreadable !== undefined && !speaks(i.node));
  return unread !== undefined && mayBeOfNoKnown(w, incidents) ? { is: 'unreadable', node: unread.node } : undefined;
}

function mayBeOfNoKnown({ name, assignment, move, start }: Asked, incidents: readonly Taker[]): boolean {
  if (assignment === undefined)
    return move === undefined && !incidents.some((i) => isAfterOff(i) && i.recovery.some((r) => r.workload === name));
  const cause = start?.cause ?? '';
  return cause.startsWith(INCIDENT) && !incidents.some((i) => cause === `${INCIDENT}${i.id}`);
}

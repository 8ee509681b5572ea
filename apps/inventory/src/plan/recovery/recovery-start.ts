import type { IncidentRecord, JobRecord, NodeRecord, OffProof, RecoveryAssignment, WorkloadRecord } from '#contracts';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { go } from '#domain/incident/steps.js';
import { jobAfter } from '#domain/job/changes.js';
import { isOfOtherDevices } from '../../power/collateral.js';
import { foreignSince } from '../../power/proof-doubt.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { conducted, type Conducting } from '../conducted.js';
import { isComingBack } from './ended-boot.js';

/** Nothing is assigned to its node, and that is known. */
export const isEmpty = (i: Pick<IncidentRecord, 'node'>, fleet: Fleet): boolean =>
  fleet.workloads.live && assignedTo(fleet, i.node).length === 0;

/**
 * Its work is taken from the node; undefined: it is not fenced any more, or not by this proof, or that is in doubt. The
 * fleet has every workload, by a full read.
 * @param proof by which that was decided
 * @param bootId that was ended; undefined: none is known
 */
export function recovering(
  now: IncidentRecord,
  proof: OffProof | undefined,
  by: Conducting,
  bootId: string | undefined,
): IncidentRecord | undefined {
  if (now.phase !== 'fenced') return undefined;
  if (now.proof?.at !== proof?.at || now.proof?.doubt !== undefined) return undefined;
  const recovery = assignedTo(by.fleet, now.node).map((w) => waiting(w.name, now.node));
  const text = `${recovery.length} workload(s) to recover${names(recovery)}.`;
  return conducted(now, by, {
    ...go(now, 'recovering', text, by.fleet.wallMs),
    ...(bootId !== undefined && { bootId }),
    recovery,
  });
}

export const waiting = (workload: string, from: string): RecoveryAssignment => ({ workload, from, state: 'waiting' });

const names = (recovery: readonly RecoveryAssignment[]): string =>
  recovery.length === 0
    ? ''
    : `: ${recovery
        .map((r) => r.workload)
        .slice(0, 20)
        .join(', ')}`;

/**
 * Off by the proof of this incident. A node that has come back in another boot is not: what is assigned to it then runs
 * there, or is owed there.
 * @param node its record; undefined: it was deleted, and counts as off
 */
export const isStillOff = (i: Pick<IncidentRecord, 'id'>, node: NodeRecord | undefined): boolean =>
  node === undefined || isOffByIncident(node, i);

/**
 * Its proof counts by its node's record: its devices are those that were ordered, none of them is another machine's, and no
 * new boot has just spoken.
 */
export const mayBegin = (i: IncidentRecord, node: NodeRecord | undefined, fleet: Fleet): boolean =>
  !isOfOtherDevices(i, node) &&
  foreignSince(i, node, () => isEmpty(i, fleet)) === undefined &&
  !isComingBack(i, node, fleet);

/** What is assigned there may be taken from it. */
export const mayTake = (i: IncidentRecord, fleet: Fleet): boolean => {
  const node = fleet.nodes.get(i.node)?.value;
  return isStillOff(i, node) && !isComingBack(i, node, fleet);
};

/** The job that was on its way to start or to stop it on the dead node. */
export const jobOnItsWay = (w: WorkloadRecord, node: string): string | undefined =>
  w.assignment?.node === node ? (w.start?.job ?? w.stop?.job) : undefined;

/** The job, called back; undefined: it has ended, or was called back already. */
export const calledBack = (job: JobRecord, at: number): JobRecord | undefined =>
  jobAfter(job, { kind: 'called-back', by: 'muster', at });

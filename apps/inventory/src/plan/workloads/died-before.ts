import type { JobRecord, NodeRecord } from '#contracts';

/**
 * Which node of a job that has not begun was powered off meanwhile; undefined: none, or it is no matter, since a
 * decommission takes the node out all the same. Any other job would fail on it and leave it Unallocated; called off, it
 * leaves the node as it was, for the checks of its return.
 */
export const diedBefore = (job: Pick<JobRecord, 'kind'>, nodes: readonly NodeRecord[]): string | undefined =>
  job.kind === 'decommission' ? undefined : nodes.find((n) => n.confirmedOff !== undefined)?.name;

import type { HostGroup, NodeRecord } from '#contracts';

/*
 * Workers need a master. Two rules ask whether one is left, of the same nodes and of two moments:
 *
 *  - The rules over roles, at an admission, ask of the fleet as it will be once each admitted job has begun. A job that
 *    leaves the status alone takes no master away: one that is set up again is a master still.
 *  - The turn of what is taken down asks who serves meanwhile. A master that a job holds does not, unless it is only
 *    checked.
 *
 * What a master that serves is by its record is one answer, {@link isServingMaster}; each reckons with holds by itself.
 */

export const roleOf = (groups: readonly HostGroup[], hostGroup: string | undefined): HostGroup['role'] =>
  groups.find((g) => g.name === hostGroup)?.role ?? 'none';

/** Something is set up on it, or is being. */
export const isInUse = (n: Pick<NodeRecord, 'status'>): boolean =>
  n.status !== 'Unallocated' && n.status !== 'Decommissioned';

/** It was set up, and is heard. Whether it is in service, or held, is not asked. */
export const isServing = (n: Pick<NodeRecord, 'status' | 'state'>): boolean =>
  n.status === 'Allocated' && n.state === 'Discovered';

/** The same, of a master. */
export const isServingMaster = (
  n: Pick<NodeRecord, 'hostGroup' | 'status' | 'state'>,
  groups: readonly HostGroup[],
): boolean => roleOf(groups, n.hostGroup) === 'master' && isServing(n);

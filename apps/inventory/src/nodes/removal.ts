import { MusterError, type Hold, type IncidentRecord, type NodeRecord } from '#contracts';

export interface RemovalFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase'> | undefined;
  /** Workloads that are assigned to it. */
  workloads: readonly string[];
}

/** It is not to be forgotten. */
export const isServing = (n: NodeRecord): boolean => n.status === 'Allocated' && n.state === 'Discovered';

/**
 * Why the node cannot be forgotten, or give its place to new hardware; undefined: it can. A node that serves is
 * decommissioned first, one that is gone may go.
 */
export function refusedRemoval(n: NodeRecord, f: RemovalFacts): MusterError | undefined {
  const node = n.name;
  if (f.hold)
    return new MusterError('NODE_RESERVED', `${node} is held by ${f.hold.job ?? f.hold.edit ?? f.hold.claim}`, {
      node,
      ...f.hold,
    });
  if (f.incident)
    return new MusterError('NODE_BUSY', `${node} has an open incident: ${f.incident.id} is ${f.incident.phase}`, {
      node,
      incident: f.incident.id,
    });
  if (f.workloads.length > 0)
    return new MusterError('WORKLOADS_PRESENT', `${node} has workloads: ${f.workloads.join(' ')}`, {
      node,
      workloads: f.workloads,
    });
  if (isServing(n))
    return new MusterError('ILLEGAL_TRANSITION', `${node} is Allocated and Discovered: decommission it first`, {
      node,
    });
  return undefined;
}

import { MusterError, type Hold, type IncidentRecord, type NodeRecord } from '#contracts';

/** Whose report is younger than this, ms, may live; twice the longest report period. */
const HEARD_MS = 10_000;

export interface RemovalFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase' | 'powerOn'> | undefined;
  /** Why a command to its power may still take effect, where one may. */
  quarantined?: string | undefined;
  /** ms since its agent reported; absent: it was not heard. */
  heardAgoMs?: number | undefined;
  /** Workloads that are assigned to it. */
  workloads: readonly string[];
}

/** It is not to be forgotten. */
export const isServing = (n: NodeRecord): boolean => n.status === 'Allocated' && n.state === 'Discovered';

/**
 * Why its incident keeps the node; undefined: it does not. Hardware that was proven off, and never comes back, may go
 * once what it ran was recovered: nothing more is done to its power, and nobody hears it.
 */
function keptBy(n: NodeRecord, i: NonNullable<RemovalFacts['incident']>, f: RemovalFacts): string | undefined {
  if (i.phase !== 'recovered') return `is ${i.phase}`;
  if (n.confirmedOff?.incident !== i.id) return 'is recovered, and the node on its way back into service';
  if (i.powerOn?.wanted === true && i.powerOn.done !== true) return 'is recovered, and the node being switched on';
  if (f.quarantined !== undefined) return `is recovered, yet ${f.quarantined}`;
  const isHeard = n.state === 'Discovered' || (f.heardAgoMs !== undefined && f.heardAgoMs < HEARD_MS);
  return isHeard ? 'is recovered, yet the node was heard just now' : undefined;
}

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
  const kept = f.incident && keptBy(n, f.incident, f);
  if (f.incident && kept !== undefined)
    return new MusterError('NODE_BUSY', `${node} has an open incident: ${f.incident.id} ${kept}`, {
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

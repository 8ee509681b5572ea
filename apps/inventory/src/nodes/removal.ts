import { MusterError, type AlarmCode, type Hold, type IncidentRecord, type NodeRecord } from '#contracts';
import { bootAwaited } from '#domain/power/boot-grace.js';

/** ms without a word from a node until nobody hears it, and at least two of its report periods. */
const UNHEARD_MS = 10_000;

export interface RemovalFacts {
  hold?: Hold | undefined;
  /** The node's incident, where one is open. */
  incident?: Pick<IncidentRecord, 'id' | 'phase' | 'powerOn' | 'commands' | 'bootId' | 'order'> | undefined;
  /** Why a command to its power may still take effect, where one may. */
  quarantined?: string | undefined;
  /** ms for which this process has listened, and had no report of it. */
  unheardMs: number;
  /** Of its agent, ms. */
  reportPeriod: number;
  /** Codes of the alarms that stand for it. */
  alarms: readonly AlarmCode[];
  /** Workloads that are assigned to it. */
  workloads: readonly string[];
}

/** It is not to be forgotten. */
export const isServing = (n: NodeRecord): boolean => n.status === 'Allocated' && n.state === 'Discovered';

/**
 * Why its incident keeps the node; undefined: it does not. Hardware that was proven off, and never comes back, may go
 * once what it ran was taken from it, nothing more is to come of its power, and nobody hears it. One that has spoken
 * since the proof stays: as long as its incident is open, what it may still run is started nowhere else.
 */
function keptBy(n: NodeRecord, i: NonNullable<RemovalFacts['incident']>, f: RemovalFacts): string | undefined {
  if (i.phase !== 'recovered') return `is ${i.phase}`;
  if (n.confirmedOff?.incident !== i.id) return 'is recovered, and the node on its way back into service';
  if (i.powerOn?.wanted === true && i.powerOn.done !== true)
    return 'is recovered, and the node being switched on: where no fencer can do it, set fencing to observe';
  if (f.quarantined !== undefined) return `is recovered, yet ${f.quarantined}`;
  if (f.alarms.includes('conflict-power'))
    return 'is recovered, yet the node has spoken since it was proven off (alarm conflict-power)';
  const { verdict } = n.verdict ?? {};
  const isJudgedAlive = n.state === 'Discovered' || verdict === 'UP' || verdict === 'DEGRADED';
  if (isJudgedAlive || f.unheardMs < Math.max(UNHEARD_MS, 2 * f.reportPeriod))
    return 'is recovered, yet the node may have been heard just now';
  if (n.enrolled && bootAwaited(i, n) !== undefined && !f.alarms.includes('boot-timeout'))
    return 'is recovered, and the node was switched on: it may be booting';
  return undefined;
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

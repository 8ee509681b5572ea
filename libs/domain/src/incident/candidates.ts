import { isOpenIncident, type IncidentRecord, type NodeRecord, type VerdictKind } from '#contracts';
import { isMember, shouldReport } from '../node/membership.js';
import { isAfterOff, wasCommanded } from './phases.js';
import { StormNumbers, type MemberState } from './storm-counts.js';
import { isDownByPolicy } from './verdict-effect.js';

/** Its dead node is not yet dealt with: counts against the brake. */
export const isUnrecovered = (i: IncidentRecord): boolean => isOpenIncident(i) && i.phase !== 'recovered';

/**
 * Whether a new storm counts it: one that began within ten minutes, or whose node may be losing its power right now. What
 * failed long ago and waits for an operator or a spare part must not end all fencing.
 * @param ageMs never more than it is; unknown: 0
 */
export const countsForNewStorm = (i: IncidentRecord, ageMs: number): boolean =>
  ageMs < StormNumbers.candidateWindow ||
  i.phase === 'fencing' ||
  i.commands.some((c) => c.verb === 'off' && c.endedAt === undefined);

/** What is known of a member of a storm; unknown is not up. */
export function memberState(
  node: NodeRecord | undefined,
  incident: IncidentRecord | undefined,
  now: VerdictKind | undefined,
): MemberState {
  if (node === undefined || !isMember(node)) return 'out';
  if (incident !== undefined && isAfterOff(incident)) return 'out';
  return now === 'UP' ? 'up' : 'rest';
}

/**
 * Opened by the policy for DEGRADED nodes, and stopped by the signs of life of a node that is DEGRADED as of now: it can
 * power nothing off as it is, and would only take the place of a node that is dead. From when it may go on (its node
 * falls silent or is not judged, an operator has released it, it has a permit) it counts like any other.
 */
export const isHeldAlive = (i: IncidentRecord, now: VerdictKind | undefined, permitted: boolean): boolean =>
  isDownByPolicy(i, now) &&
  i.phase === 'suppressed' &&
  // The gate that stops it is the first in order: another before it does not make the node any less alive.
  i.gates.some((g) => g.gate === 'LIFE_SIGN' && !g.pass) &&
  i.released === undefined &&
  i.order === undefined &&
  !permitted &&
  !wasCommanded(i);

/** Its system is (or was) in use: the death of any other is only noted. */
export const isWorthAnIncident = (n: NodeRecord, hasWorkloads: boolean): boolean =>
  shouldReport(n) && (hasWorkloads || (n.status !== 'Unallocated' && n.status !== 'Decommissioned'));

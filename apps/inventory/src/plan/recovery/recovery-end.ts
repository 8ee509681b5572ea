import type { IncidentRecord, NodeRecord } from '#contracts';
import { isOffByIncident } from '#domain/incident/proven-off.js';
import { go } from '#domain/incident/steps.js';
import { conducted, type Conducting } from '../conducted.js';

/**
 * Why a recovered incident is over; undefined: it is not.
 * @param node its record; undefined: it was deleted
 */
export function whyOver(i: Pick<IncidentRecord, 'id'>, node: NodeRecord | undefined): string | undefined {
  if (node === undefined) return 'The node was deleted.';
  if (isOffByIncident(node, i)) return undefined;
  if (node.status === 'Decommissioned' || node.status === 'Unallocated') return `The node is ${node.status}.`;
  if (node.state !== 'Discovered') return undefined;
  if (node.maintenance === undefined && node.pendingReturn === undefined) return 'The node is back in service.';
  return node.cordon !== undefined && node.pendingReturn !== undefined
    ? 'The node is back, and is left alone: it is cordoned.'
    : undefined;
}

/** The incident, closed; undefined: it is not over. The fleet has the node by a live read. */
export function closed(now: IncidentRecord, by: Conducting): IncidentRecord | undefined {
  if (now.phase !== 'recovered') return undefined;
  const { nodes, wallMs } = by.fleet;
  const why = whyOver(now, nodes.get(now.node)?.value);
  return why === undefined ? undefined : conducted(now, by, go(now, 'closed', why, wallMs));
}

/** The power-on that the incident wants and the node's record does not count yet, by when it was requested. */
export function uncountedPowerOn(
  { powerOn }: Pick<IncidentRecord, 'powerOn'>,
  node: Pick<NodeRecord, 'poweredOnAt'>,
): number | undefined {
  const isMissing = powerOn?.wanted === true && !(node.poweredOnAt ?? []).includes(powerOn.requestedAt);
  return isMissing ? powerOn.requestedAt : undefined;
}

/** The last ones that are kept count for "once in 24 h". */
export const powerOnCounted = (n: NodeRecord, requestedAt: number): NodeRecord => ({
  ...n,
  poweredOnAt: [...(n.poweredOnAt ?? []), requestedAt].slice(-10),
});

import type { Beacon, NodeRecord, UnhealthyNode } from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { latestVerdict } from '#domain/verdict/latest-verdict.js';
import { isWorthAnIncident } from '#domain/incident/candidates.js';

/**
 * Members that are not all well by the last word on them, before any alarm or incident says so. One that is cordoned or
 * proven off is known to be away, and of one that serves nothing a death is no fault.
 * @param beacon the detector's last one, while it is fresh
 */
export function unhealthyNodes(
  nodes: readonly NodeRecord[],
  beacon: Beacon | undefined,
  hasWorkloads: (node: string) => boolean,
): UnhealthyNode[] {
  return nodes.filter(isMember).flatMap((n): UnhealthyNode[] => {
    const verdict = latestVerdict(n, beacon);
    if (verdict !== 'DEGRADED' && verdict !== 'SUSPECT' && verdict !== 'DOWN') return [];
    if (verdict === 'DOWN' && !isWorthAnIncident(n, hasWorkloads(n.name))) return [];
    // The beacon names the verdict before the record has it: then its networks are not known here.
    const same = n.verdict?.verdict === verdict;
    return [{ node: n.name, verdict, networks: same ? (n.verdict?.networks ?? []) : [] }];
  });
}

import type { Beacon, NodeRecord } from '#contracts';
import { shouldReport } from '#domain/node/membership.js';
import { isSilent, latestVerdict } from '#domain/verdict/latest-verdict.js';
import type { SilentNode } from './collateral.js';

/** A node that was heard so lately, ms, speaks. */
export const SPEAKS_MS = 2_000;

/**
 * Nodes that are not heard: by a verdict, or by their own silence where nobody judges them.
 * @param beacon of a detector that is heard
 * @param heard what a node has said last; undefined: this process has never heard it
 */
export function silentNodes(
  nodes: readonly NodeRecord[],
  beacon: Beacon | undefined,
  heard: (node: string) => { bootId: string; agoMs: number } | undefined,
): SilentNode[] {
  return nodes.flatMap((n) => {
    if (!shouldReport(n)) return [];
    const verdict = latestVerdict(n, beacon);
    const last = heard(n.name);
    const unjudged = verdict === undefined || verdict === 'UNKNOWN';
    if (!isSilent(verdict) && !(unjudged && (last?.agoMs ?? Infinity) > SPEAKS_MS)) return [];
    const bootId = last?.bootId ?? n.bootId;
    return [
      { node: n.name, ...(bootId !== undefined && { bootId }), ...(last !== undefined && { unheardMs: last.agoMs }) },
    ];
  });
}

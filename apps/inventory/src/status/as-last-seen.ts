import type { NodeView } from '#contracts';

/**
 * Nodes as they were when the records could last be followed: nobody is out of service for the one reason that nobody
 * knows. To be shown, with the gap beside it; who places anything goes by what is known.
 * @param gap why what is known may be old; undefined: it is not
 */
export function asLastSeen(nodes: readonly NodeView[], gap: string | undefined): readonly NodeView[] {
  if (gap === undefined) return nodes;
  return nodes.map((n) => {
    const reasons = n.reasons.filter((r) => r.code !== 'VIEW_STALE' || r.detail !== gap);
    return { ...n, reasons, inService: reasons.length === 0 };
  });
}

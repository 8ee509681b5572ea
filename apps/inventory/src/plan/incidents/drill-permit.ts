import type { IncidentRecord } from '#contracts';
import type { PermitDecision } from '#domain/incident/permits.js';
import type { StormFacts } from '#domain/incident/storm-counts.js';

/**
 * A drill takes no permit from those that die. It goes on only while no other node is unhealthy: who falls silent then
 * fell with it.
 */
export function drillPermit(storm: StormFacts | undefined, i: Pick<IncidentRecord, 'node'>): PermitDecision {
  const others = new Set([...(storm?.silent.map((s) => s.node) ?? []), ...(storm?.unrecovered ?? [])]);
  others.delete(i.node);
  if (storm !== undefined && others.size === 0) return { granted: true, permits: undefined, results: [] };
  const detail =
    storm === undefined
      ? 'A view of the records has a gap: it is not known whether others are silent or in an incident.'
      : `Others are silent or in an incident: ${[...others].slice(0, 5).join(', ')}.`;
  const gate = { gate: 'BRAKE', pass: false, detail } as const;
  return { granted: false, permits: undefined, gate, results: [gate] };
}

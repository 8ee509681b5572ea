import { outRemedy, type NodeView, type OutNode, type OutReason } from '#contracts';

/** From what costs most to what somebody wants so. */
const WORST_FIRST: readonly OutReason['code'][] = [
  'INCIDENT',
  'STATE',
  'PENDING_RETURN',
  'MAINTENANCE',
  'SHUTS_DOWN',
  'NO_POWER_WORKER',
  'NO_PROVISION_WORKER',
  'DEGRADED',
  'VIEW_STALE',
  'STATUS',
  'RESERVED',
  'CORDONED',
];
const rankOf = (r: OutReason): number => WORST_FIRST.indexOf(r.code);

/**
 * Nodes out of service, the worst first: those that carry work before the others, what nobody wants so before what
 * somebody does, then by their worst reason and by name.
 */
export function outNodes(nodes: readonly NodeView[], hasWork: (node: string) => boolean): OutNode[] {
  return nodes
    .filter((n) => !n.inService)
    .map((n) => {
      const reasons = [...n.reasons].sort((a, b) => rankOf(a) - rankOf(b));
      const work = hasWork(n.name);
      return { n, reasons, work, planned: !work && isPlanned(n) };
    })
    .sort(
      (a, b) =>
        Number(a.planned) - Number(b.planned) ||
        Number(b.work) - Number(a.work) ||
        rank(a.reasons) - rank(b.reasons) ||
        (a.n.name < b.n.name ? -1 : 1),
    )
    .map(({ n, reasons, planned }) => ({
      node: n.name,
      reasons: reasons.map((r) => `${r.code}: ${r.detail}`),
      remedy: outRemedy(reasons[0]?.code ?? 'STATUS', n),
      planned,
    }));
}

const rank = (reasons: readonly OutReason[]): number =>
  reasons[0] === undefined ? WORST_FIRST.length : rankOf(reasons[0]);

/** By somebody's will: it is cordoned, held by a job or a claim, or was not, or not yet, taken into service. */
const isPlanned = (n: NodeView): boolean =>
  n.cordon !== undefined || n.reasons.some((r) => r.code === 'RESERVED') || n.status !== 'Allocated';

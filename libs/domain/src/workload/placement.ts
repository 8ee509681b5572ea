import type { WorkloadRecord } from '#contracts';

/** A workload that runs nowhere and shall run. */
export interface Waiting {
  name: string;
  priority: number;
  /** Only nodes of this host group; absent: any. */
  hostGroup?: string | undefined;
  weight: number;
  /** Nodes that are taken last: they did not get it started. */
  leftOut?: readonly string[] | undefined;
}

/** A node as placement sees it. */
export interface CandidateNode {
  name: string;
  hostGroup?: string | undefined;
  /** In units of weight; Infinity: unlimited. */
  capacity: number;
  /** Weight of what is assigned to it. */
  used: number;
  /** Kept free for recoveries: taken first. */
  reserve: boolean;
  /** Why nothing may be placed on it; undefined: it is in service. Unknown is out of service. */
  out?: string | undefined;
}

export interface Placement {
  workload: string;
  to?: string;
  /** One sentence: why there, or why nowhere, with what stands against each node. */
  why: string;
}

/** Node → weight of what takes room there. */
export function weights(workloads: readonly WorkloadRecord[]): Map<string, number> {
  const used = new Map<string, number>();
  const take = (node: string, weight: number): void => void used.set(node, (used.get(node) ?? 0) + weight);
  for (const w of workloads) {
    // One that is on its way down takes its room until its node has read back that it is gone.
    if (w.assignment !== undefined && (w.desired === 'running' || w.stop !== undefined))
      take(w.assignment.node, w.weight);
    // And where it is to go, nobody else may take the room that it was stopped for.
    if (w.move !== undefined && w.assignment?.node === w.move.from) take(w.move.to, w.weight);
  }
  return used;
}

/** Highest priority first; equal ones by name, so that two rounds decide alike. */
const inOrder = (a: Waiting, b: Waiting): number => b.priority - a.priority || (a.name < b.name ? -1 : 1);

/** Why a workload is not placed on a node, in the order in which it is told. */
const refusals = {
  OUT_OF_SERVICE: (_w: Waiting, h: CandidateNode) => h.out,
  HOST_GROUP: (w: Waiting, h: CandidateNode) =>
    w.hostGroup !== undefined && h.hostGroup !== w.hostGroup ? `is not in ${w.hostGroup}` : undefined,
  CAPACITY: (w: Waiting, h: CandidateNode) =>
    h.used + w.weight > h.capacity ? `has ${h.capacity - h.used} of ${h.capacity} left, ${w.weight} needed` : undefined,
};
export type PlacementRefusal = keyof typeof refusals;

/** The first reason against placing it there; undefined: the node is eligible. */
export function placementRefusal(w: Waiting, h: CandidateNode): { code: PlacementRefusal; why: string } | undefined {
  for (const code of Object.keys(refusals) as PlacementRefusal[]) {
    const why = refusals[code](w, h);
    if (why !== undefined) return { code, why };
  }
  return undefined;
}

/** Nodes named in an explanation; a fleet of a thousand is summed up. */
const MOST_NAMED = 10;

const explain = (w: Waiting, candidates: readonly CandidateNode[]): string => {
  if (candidates.length === 0) return 'There are no nodes.';
  const named = candidates.slice(0, MOST_NAMED).map((h) => `${h.name} ${placementRefusal(w, h)?.why ?? 'fits'}`);
  const more = candidates.length > MOST_NAMED ? ` and ${candidates.length - MOST_NAMED} more` : '';
  return `No room: ${named.join('; ')}${more}.`;
};

/**
 * Where each goes, as if all were placed now: nodes that did not get it started last, reserve nodes first, then the one
 * with the least weight, so that the work of a dead node spreads. A later one sees what the earlier ones have taken.
 */
export function placeWorkloads(waiting: readonly Waiting[], candidates: readonly CandidateNode[]): Placement[] {
  const state = candidates.map((h) => ({ ...h }));
  return [...waiting].sort(inOrder).map((w) => {
    const fitting = state.filter((h) => placementRefusal(w, h) === undefined);
    const best = fitting.reduce<CandidateNode | undefined>(
      (a, b) => (a === undefined || better(w, b, a) ? b : a),
      undefined,
    );
    if (best === undefined) return { workload: w.name, why: explain(w, state) };
    const why = `${best.name}: ${best.reserve ? 'kept for recoveries, ' : ''}least loaded (${best.used}) of ${fitting.length} that fit.`;
    best.used += w.weight;
    return { workload: w.name, to: best.name, why };
  });
}

function better(w: Waiting, a: CandidateNode, b: CandidateNode): boolean {
  const isLast = (h: CandidateNode): boolean => w.leftOut?.includes(h.name) === true;
  if (isLast(a) !== isLast(b)) return isLast(b);
  return a.reserve !== b.reserve ? a.reserve : a.used !== b.used ? a.used < b.used : a.name < b.name;
}

/** `vars.capacity` of a node, in units of weight. @default unlimited */
export function capacityOf(vars: Record<string, unknown>): number {
  const c = vars['capacity'];
  const n = typeof c === 'string' && c.trim() !== '' ? Number(c) : c;
  return typeof n === 'number' && Number.isFinite(n) && n >= 0 ? n : Infinity;
}

/** `vars.recovery_reserve` of a node: kept free for recoveries. @default false */
export const isReserve = (vars: Record<string, unknown>): boolean => vars['recovery_reserve'] === true;

import { type GateCode, type GateResult, type NodeRecord, type Permits } from '#contracts';
import { StormNumbers, storm, type Grant, type StormFacts } from './storm.js';

/** What a decider knows beside the permits themselves, which are read inside the compare-and-set. */
export interface PermitRequest {
  incident: string;
  node: NodeRecord;
  storm: Omit<StormFacts, 'grants'>;
  /** Gates that an operator released for this incident. */
  released: readonly GateCode[];
  /** Incidents that are still open: their permits are kept whatever their age. */
  open: ReadonlySet<string>;
  /** Age of a permit on the decider's own clock since it first saw it; 0 where it never did: unknown is recent. */
  ageMs(incident: string): number;
  /** Wall clock, for people. */
  at: number;
}

export type PermitDecision =
  | { granted: true; permits: Permits | undefined; results: GateResult[] }
  | { granted: false; gate: GateResult; results: GateResult[] };

const permitGates = ['BRAKE', 'DOMAIN', 'CAP', 'FLAPPING'] as const;

/**
 * Brake, domain, cap and flapping over the permits as they are in the store at this very revision: of two deciders that
 * both think they are the last under the limit, the second finds the first one's permit. Asking again is answered the
 * same: a permit is given once per incident.
 */
export function decidePermit(current: Permits | undefined, r: PermitRequest): PermitDecision {
  const granted = current?.granted ?? [];
  const grants: Grant[] = granted.map((g) => ({ incident: g.incident, node: g.node, ageMs: r.ageMs(g.incident) }));
  const facts: StormFacts = { ...r.storm, grants };
  const results: GateResult[] = permitGates.map((gate) => ({ gate, ...storm[gate](facts, r.node, r.incident) }));
  if (granted.some((g) => g.incident === r.incident)) return { granted: true, permits: undefined, results };
  const stopped = results.find((x) => !x.pass && !r.released.includes(x.gate));
  if (stopped !== undefined) return { granted: false, gate: stopped, results };
  const kept = granted.filter((g) => r.open.has(g.incident) || r.ageMs(g.incident) < StormNumbers.capWindow);
  return {
    granted: true,
    permits: { granted: [...kept, { incident: r.incident, node: r.node.name, at: r.at }] },
    results,
  };
}

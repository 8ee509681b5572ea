import type { NodeRecord, StormLimits } from '#contracts';

/** Windows of the storm gates, ms. */
export const StormNumbers = {
  /** BRAKE counts the permits of this long. */
  brakeWindow: 60_000,
  /** DOMAIN: who fell silent within this of each other fell together. */
  domainWindow: 60_000,
  /** CAP and FLAPPING look back this far. */
  capWindow: 600_000,
} as const;

/** At most so many nodes in trouble at once: beyond that the cause is rather ours, a switch or a room than the nodes. */
export const brakeLimit = (members: number, l: StormLimits): number =>
  Math.max(l.brakeAtLeast, Math.floor(l.brakeShare * members));
/** At most so many permits in ten minutes. */
export const capLimit = (members: number, l: StormLimits): number =>
  Math.max(l.capAtLeast, Math.floor(l.capShare * members));

/** A permit, with its age on the asker's own monotonic clock since it was first seen; never seen before: 0. */
export interface Grant {
  incident: string;
  node: string;
  ageMs: number;
}

export interface StormFacts {
  /** As the cluster's settings have them. */
  limits: StormLimits;
  /** M: enrolled, not cordoned, not confirmed off. */
  members: number;
  /** Members that are SUSPECT or DOWN as of now, with how long on the asker's own clock; unknown: 0. */
  silent: { node: string; domain: string; forMs: number }[];
  /** Nodes whose incident is not yet recovered. */
  unrecovered: string[];
  grants: Grant[];
  /** Enrolled, not cordoned nodes by failure domain, those that were fenced counted in. */
  domains: Record<string, { members: number }>;
  /** Domain of a node that was granted a permit and may no longer be a member. */
  domainOf(node: string): string | undefined;
}

type Answer = { pass: boolean; detail: string };

/** Nodes in trouble: silent now, an incident in the last 60 s, or one that is not yet recovered; and the one that asks. */
export function candidates(s: StormFacts, asking?: string): Set<string> {
  const recent = s.grants.filter((g) => g.ageMs < StormNumbers.brakeWindow).map((g) => g.node);
  const all = new Set([...s.silent.map((x) => x.node), ...s.unrecovered, ...recent]);
  if (asking !== undefined) all.add(asking);
  return all;
}

export const storm = {
  BRAKE(s: StormFacts, node: NodeRecord): Answer {
    const n = candidates(s, node.name).size;
    const limit = brakeLimit(s.members, s.limits);
    return {
      pass: n <= limit,
      detail: `${n} node(s) in trouble, at most ${limit} of ${s.members} members may be at once.`,
    };
  },

  DOMAIN(s: StormFacts, node: NodeRecord): Answer {
    const domain = node.failureDomain;
    // Together means within 60 s of this node, however long ago that was: a dead switch does not heal by waiting.
    const mine = s.silent.find((x) => x.node === node.name)?.forMs ?? 0;
    const together = (ms: number): boolean => Math.abs(ms - mine) < StormNumbers.domainWindow;
    const fell = new Set([
      node.name,
      ...s.silent.filter((x) => x.domain === domain && together(x.forMs)).map((x) => x.node),
      ...s.grants.filter((g) => s.domainOf(g.node) === domain && together(g.ageMs)).map((g) => g.node),
    ]);
    const members = s.domains[domain]?.members ?? 0;
    return {
      pass: !(fell.size >= 3 && fell.size > members / 2),
      detail: `${fell.size} of ${members} nodes of failure domain ${domain} fell silent within 60 s.`,
    };
  },

  CAP(s: StormFacts, _node: NodeRecord, incident?: string): Answer {
    const n = s.grants.filter((g) => g.incident !== incident && g.ageMs < StormNumbers.capWindow).length;
    const limit = capLimit(s.members, s.limits);
    return {
      pass: n < limit,
      detail: `${n} permit(s) were given in the last 10 min, at most ${limit} may be.`,
    };
  },

  FLAPPING(s: StormFacts, node: NodeRecord, incident?: string): Answer {
    const n = s.grants.filter(
      (g) => g.node === node.name && g.incident !== incident && g.ageMs < StormNumbers.capWindow,
    ).length;
    return {
      pass: n < s.limits.flaps,
      detail: `${n} permit(s) for this node in the last 10 min, at most ${s.limits.flaps} may be.`,
    };
  },
} as const;

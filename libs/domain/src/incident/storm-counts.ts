import { brakeLimit, capLimit, type GateResult, type NodeRecord, type StormLimits, type StormTrip } from '#contracts';

/** Windows of the storm gates, ms. */
export const StormNumbers = {
  /** BRAKE counts the permits of this long. */
  brakeWindow: 60_000,
  /** DOMAIN: who fell silent within this of each other fell together. */
  domainWindow: 60_000,
  /** CAP and FLAPPING look back this far. */
  capWindow: 600_000,
  /** Unhealthy for longer, it trips no new storm: two machines that wait for spare parts must not end all fencing. */
  candidateWindow: 600_000,
  /** A storm that stands ends so long after the last member's first return. */
  opensAfter: 120_000,
  /** The alarm of one that does not end by itself is repeated. */
  repeatEvery: 900_000,
} as const;

/** A permit, with its age on the asker's own monotonic clock since it was first seen; never seen before: 0. */
export interface Grant {
  incident: string;
  node: string;
  ageMs: number;
}

/** What of a member of a storm is known: heard as UP; of no more interest (cordoned, confirmed, deleted, fenced); else the rest. */
export type MemberState = 'up' | 'out' | 'rest';

/** What decides over storms that stand, beside the counts. */
export interface Latch {
  /** As they stand. */
  trips: readonly StormTrip[];
  state(node: string): MemberState;
  /** The detector sees the fleet, and has for long enough that it has judged everyone. */
  sees: boolean;
  /** It has just begun to: who else is silent is not yet known. */
  settling: boolean;
  /** ms since the last first return of a member, or since it was tripped where none has returned. Never more than it is. */
  calmMs(trip: StormTrip): number;
  /** Nodes whose power-off was ordered already. */
  commanded: ReadonlySet<string>;
  /** The blindness by missing reports that has just ended, and who was silent at its end. */
  blindness?: { epoch: number; seq: number; silent: readonly string[] } | undefined;
  /** Wall clock, ms: to show when it ends. */
  wallNow: number;
}

export interface StormFacts {
  /** As the cluster's settings have them. */
  limits: StormLimits;
  /** M: enrolled, not cordoned, not confirmed off. */
  members: number;
  /** Members that are SUSPECT or DOWN as of now, with how long on the asker's own clock; unknown: 0. */
  silent: { node: string; domain: string; forMs: number }[];
  /**
   * Members that were silent at the same moment a moment ago, perhaps while nobody decided; some may be back. With how long
   * each has been by now where it still is.
   */
  together?: readonly { node: string; forMs: number }[];
  /** Nodes whose incident is not yet recovered. */
  unrecovered: string[];
  grants: Grant[];
  /** Enrolled, not cordoned nodes by failure domain, those that were fenced counted in. */
  domains: Record<string, { members: number }>;
  /** Domain of a node that was granted a permit and may no longer be a member. */
  domainOf(node: string): string | undefined;
  /** Absent: nothing is known to stand. */
  latch?: Latch;
}

/** What the gates look at that count permits alone. */
export type PermitCounts = Pick<StormFacts, 'grants' | 'members' | 'limits'>;

type Named = Pick<NodeRecord, 'name'>;
type Answer = Pick<GateResult, 'pass' | 'detail'>;

/**
 * Candidates of the brake: nodes that are silent for less than ten minutes, were granted a permit in the last 60 s, or have an
 * incident that is not yet recovered; and the one that asks.
 */
export function candidates(s: StormFacts, asking?: string): Set<string> {
  const recent = s.grants.filter((g) => g.ageMs < StormNumbers.brakeWindow).map((g) => g.node);
  const silent = s.silent.filter((x) => x.forMs < StormNumbers.candidateWindow).map((x) => x.node);
  const all = new Set([...silent, ...s.unrecovered, ...recent]);
  if (asking !== undefined) all.add(asking);
  return all;
}

/** Within 60 s of each other, by how long each is silent, ms. */
export const isTogether = (aMs: number, bMs: number): boolean => Math.abs(aMs - bMs) < StormNumbers.domainWindow;

/** Who of a domain fell silent, or was granted a permit, within 60 s of one that fell `ms` ago. */
export function fellTogether(s: StormFacts, domain: string, ms: number): Set<string> {
  return new Set([
    ...s.silent.filter((x) => x.domain === domain && isTogether(x.forMs, ms)).map((x) => x.node),
    ...s.grants.filter((g) => s.domainOf(g.node) === domain && isTogether(g.ageMs, ms)).map((g) => g.node),
  ]);
}

/** So many of one failure domain may fall together: two, or half of it. */
export const mostOfDomain = (s: Pick<StormFacts, 'domains'>, domain: string): number =>
  Math.max(2, Math.floor((s.domains[domain]?.members ?? 0) / 2));

/** So many of one failure domain are more than may fall together. */
export const isMostOfDomain = (s: Pick<StormFacts, 'domains'>, domain: string, count: number): boolean =>
  count > mostOfDomain(s, domain);

/** What a gate of storms counts, and how much of it may be. */
export interface StormCount {
  count: number;
  limit: number;
}

/** The counts of the moment, by gate. */
export const stormFigures = {
  BRAKE: (s: StormFacts, node: NodeRecord, _incident?: string): StormCount => ({
    count: candidates(s, node.name).size,
    limit: brakeLimit(s.members, s.limits),
  }),

  DOMAIN(s: StormFacts, node: NodeRecord, _incident?: string): StormCount {
    const domain = node.failureDomain;
    // Together means within 60 s of this node, however long ago that was: a dead switch does not heal by waiting.
    const mine = s.silent.find((x) => x.node === node.name)?.forMs ?? 0;
    const fell = fellTogether(s, domain, mine).add(node.name);
    return { count: fell.size, limit: mostOfDomain(s, domain) };
  },

  CAP: (s: PermitCounts, _node: Named, incident?: string): StormCount => ({
    count: s.grants.filter((g) => g.incident !== incident && g.ageMs < StormNumbers.capWindow).length,
    limit: capLimit(s.members, s.limits),
  }),

  FLAPPING: (s: PermitCounts, node: Named, incident?: string): StormCount => ({
    count: s.grants.filter((g) => g.node === node.name && g.incident !== incident && g.ageMs < StormNumbers.capWindow)
      .length,
    limit: s.limits.flaps,
  }),
} as const;

/** What the gates say of their counts: what stands is asked before them, see {@link askStorm} in `storm.ts`. */
export const stormCounts = {
  BRAKE(s: StormFacts, node: NodeRecord, _incident?: string): Answer {
    const { count, limit } = stormFigures.BRAKE(s, node);
    return {
      pass: count <= limit,
      detail: `${count} node(s) at once silent, not yet recovered, or fenced within 60 s; at most ${limit} of ${s.members} members may be.`,
    };
  },

  DOMAIN(s: StormFacts, node: NodeRecord, _incident?: string): Answer {
    const domain = node.failureDomain;
    const { count, limit } = stormFigures.DOMAIN(s, node);
    const members = s.domains[domain]?.members ?? 0;
    return {
      pass: count <= limit,
      detail: `${count} of ${members} nodes of failure domain ${domain} fell silent within 60 s; at most ${limit} may.`,
    };
  },

  CAP(s: PermitCounts, node: Named, incident?: string): Answer {
    const { count, limit } = stormFigures.CAP(s, node, incident);
    return {
      pass: count < limit,
      detail: `${count} permit(s) were given in the last 10 min, at most ${limit} may be.`,
    };
  },

  FLAPPING(s: PermitCounts, node: Named, incident?: string): Answer {
    const { count, limit } = stormFigures.FLAPPING(s, node, incident);
    return {
      pass: count < limit,
      detail: `${count} permit(s) for this node in the last 10 min, at most ${limit} may be.`,
    };
  },
} as const;

/** Gates that ask how many others are unhealthy. */
export type StormGate = keyof typeof stormCounts;

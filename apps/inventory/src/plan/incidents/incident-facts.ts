import type { IncidentRecord, NodeRecord, VerdictKind } from '#contracts';
import type { GateFacts } from '#domain/incident/gates.js';
import { isMember } from '#domain/node/membership.js';
import { isSilent, latestVerdict } from '#domain/verdict/latest-verdict.js';
import type { IdentityRead } from '../../identity/identity-reads.js';
import type { Fleet } from '../../snapshot/fleet.js';

/** An unchanged incident is examined again after this, ms. */
export const AGAIN_MS = 500;

/** What the decisions about the dead rest on, as of one moment. */
export interface IncidentFacts {
  readonly fleet: Fleet;
  /** No gap in the settings. */
  readonly knowsSettings: boolean;
  /** Nodes that have stayed DEGRADED for so long that policy treats them as DOWN. */
  readonly treatedAsDown: ReadonlySet<string>;
  /** Node → the reads of whose its power devices are, where it was asked since it is suspect. */
  readonly identity: ReadonlyMap<string, IdentityRead>;
  /** Incidents that have their permit. */
  readonly permitted: ReadonlySet<string>;
}

/** What was found out about one node, as of one moment: the verdict of that moment is among it. */
export interface Investigation {
  readonly gates: GateFacts;
  /** What its power devices have answered, for people. */
  readonly story: string;
  /** Other nodes that are not heard when it is called: who falls silent later may have fallen with it. */
  silentNow(): string[];
}

/**
 * What the ages are of: a boot that is awaited since Muster has switched the node on; an `off` that its node has
 * outlived; a gate that stops an order by hand; an attempt that has failed. But for the first, the incident's id follows.
 */
export type IncidentCondition = `${'boot' | 'outlived' | 'stopped' | 'failed'}/${string}`;

/** For how long it has held on the asker's own clock, ms. */
export type IncidentAge = (condition: IncidentCondition) => number;

/** The last word on it that this process has heard. */
export const verdictHeard = ({ detector }: Fleet, node: NodeRecord): VerdictKind | undefined =>
  latestVerdict(node, detector.fresh ? detector.beacon : undefined);

/** Members that are silent as of now. */
export const silentMembers = (fleet: Fleet): NodeRecord[] =>
  fleet.nodes.list.map((e) => e.value).filter((n) => isMember(n) && isSilent(verdictHeard(fleet, n)));

export const degradedToDeath = ({ fleet, treatedAsDown }: IncidentFacts): NodeRecord[] =>
  [...treatedAsDown].flatMap((name) => fleet.nodes.get(name)?.value ?? []);

/** Whose power devices are asked who they are, and for their power, beside everything else. */
export const suspects = (f: IncidentFacts): NodeRecord[] => [...silentMembers(f.fleet), ...degradedToDeath(f)];

/** No fencer has answered yet whose its power devices are: whoever could power it off has not been heard. */
export const isIdentityUnanswered = ({ identity }: IncidentFacts, node: string): boolean =>
  (identity.get(node) ?? 'answered') !== 'answered';

export const hasWorkloads = ({ workloads }: Fleet, node: string): boolean =>
  workloads.list.some((e) => e.value.assignment?.node === node);

export const incidentsOf = ({ incidents }: Fleet): IncidentRecord[] => incidents.list.map((e) => e.value);

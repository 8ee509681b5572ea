import { isOpenIncident, PERMITS_KEY, type IncidentRecord, type NodeRecord, type VerdictKind } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { isMember } from '#domain/node/membership.js';
import { isSilent, latestVerdict } from '#domain/verdict/latest-verdict.js';
import type { Ages } from '../../snapshot/ages.js';
import { assignedTo } from '../../snapshot/assigned.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';

/** An unchanged incident is examined again after this, ms. */
export const AGAIN_MS = 500;

/**
 * What the ages are of: a boot that is awaited since Muster has switched the node on; an `off` that its node has
 * outlived; a gate that stops an order by hand; such an order that no fencer answers; an attempt that has failed. But for the
 * first, the incident's id follows.
 */
export type IncidentCondition = `${'boot' | 'outlived' | 'stopped' | 'unidentified' | 'failed'}/${string}`;

/** For how long it has held on the asker's own clock, ms. */
export type IncidentAge = (condition: IncidentCondition) => number;

export const ageIn =
  (ages: Ages<IncidentCondition>): IncidentAge =>
  (condition) =>
    ages.of(condition);

/** The last word on it that this process has heard. */
export const verdictHeard = ({ detector }: Fleet, node: NodeRecord): VerdictKind | undefined =>
  latestVerdict(node, detector.current);

/** Members that are silent as of now. */
export const silentMembers = perFleet((fleet): Decided<NodeRecord> =>
  eachRecord(fleet.nodes.list, aboutNode, ({ value: n }) =>
    isMember(n) && isSilent(verdictHeard(fleet, n)) ? [n] : [],
  ),
);

/** Nodes whose incident is there and cannot be read: what stands for it is neither so nor over. */
export const unreadIncidents = perFleet(({ incidents }: Fleet): ReadonlySet<string> => {
  const { made, failed } = eachRecord(incidents.list, aboutNode, ({ key, value }) =>
    value.unreadable === undefined ? [] : [key],
  );
  return new Set([...incidents.unreadable, ...made, ...failed.flatMap((f) => f.about['node'] ?? [])]);
});

/** Decides on each incident by itself. */
export const eachIncident = <T>(
  { incidents }: Pick<Fleet, 'incidents'>,
  decide: (i: IncidentRecord) => readonly T[],
): Decided<T> => eachRecord(incidents.list, aboutNode, ({ value }) => decide(value));

/** They have stayed DEGRADED for so long that policy treats them as DOWN. */
export const degradedToDeath = ({ nodes, degradedSteps }: Fleet): NodeRecord[] =>
  [...degradedSteps()].flatMap(([name, step]) => (step === 'down' ? (nodes.get(name)?.value ?? []) : []));

/** A cordoned node counts in no quorum. Its incident goes on, and its gates still ask. */
const silentInIncident = (fleet: Fleet): readonly NodeRecord[] =>
  eachIncident(fleet, (i) => {
    const node = fleet.nodes.get(i.node)?.value;
    if (node === undefined || isMember(node) || !isOpenIncident(i) || isAfterOff(i)) return [];
    return isSilent(verdictHeard(fleet, node)) ? [node] : [];
  }).made;

/** Whose power devices are asked who they are, and for their power, beside everything else. */
export const suspects = (fleet: Fleet): NodeRecord[] => [
  ...silentMembers(fleet).made,
  ...degradedToDeath(fleet),
  ...silentInIncident(fleet),
];

/** No fencer has answered yet whether its power devices are its own: whoever could power it off has not been heard. */
export const isIdentityUnanswered = ({ identity }: Fleet, node: string): boolean =>
  (identity.get(node) ?? 'answered') !== 'answered';

export const hasWorkloads = (fleet: Fleet, node: string): boolean => assignedTo(fleet, node).length > 0;

export const incidentsOf = ({ incidents }: Fleet): IncidentRecord[] => incidents.list.map((e) => e.value);

/** It has its permit, as last seen. */
export const isPermitted = ({ permits }: Fleet, incident: string): boolean =>
  permits.get(PERMITS_KEY)?.value.granted.some((g) => g.incident === incident) === true;

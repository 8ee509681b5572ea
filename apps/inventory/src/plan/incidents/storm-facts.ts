import type { Entry } from '#bus';
import {
  brakeLimit,
  isOpenIncident,
  PERMITS_KEY,
  type IncidentRecord,
  type NodeRecord,
  type Permits,
  type StormView,
  type VerdictKind,
} from '#contracts';
import { countsForNewStorm, isHeldAlive, isUnrecovered, memberState } from '#domain/incident/candidates.js';
import {
  calmKey,
  incidentKey,
  nothingToKeep,
  permitKey,
  tripKey,
  type PermitsFacts,
} from '#domain/incident/permits.js';
import { isAfterOff, wasCommanded } from '#domain/incident/phases.js';
import { candidates, StormNumbers, type Latch, type StormFacts } from '#domain/incident/storm-counts.js';
import { viewOf } from '#domain/incident/storm.js';
import { isInFailureDomain, isMember } from '#domain/node/membership.js';
import { isSilent, latestVerdict } from '#domain/verdict/latest-verdict.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { madeOnce } from '../../snapshot/per-fleet.js';
import { Records } from '../../snapshot/records.js';
import type { StormAges, StormsSeen } from '../../snapshot/storm-book.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';
import type { FailRecord } from '../intent.js';

/** Silent when a blindness ends: also who cannot be judged yet. */
const unheard: readonly (VerdictKind | undefined)[] = ['SUSPECT', 'DOWN', 'UNKNOWN'];

/** What storms are seen in. */
export type StormSight = Pick<Fleet, 'nodes' | 'incidents' | 'permits' | 'settings' | 'detector' | 'wallMs'>;

/**
 * Of a fleet, what can be understood: a record of which a field cannot counts as one that cannot be read. Whoever shows
 * or decides anything about storms goes by this.
 */
export const stormSight = madeOnce((fleet: StormSight): { sight: StormSight; failed: readonly FailRecord[] } => {
  const nodes = eachRecord(fleet.nodes.list, aboutNode, (e) => (readNode(e.value, fleet), [e]));
  const incidents = eachRecord(fleet.incidents.list, aboutNode, (e) => (readIncident(e.value), [e]));
  const failed = [...nodes.failed, ...incidents.failed];
  if (failed.length === 0) return { sight: fleet, failed };
  const sight = { ...fleet, nodes: without(fleet.nodes, nodes), incidents: without(fleet.incidents, incidents) };
  return { sight, failed };
});

/** @throws what cannot be understood of it */
function readNode(n: NodeRecord, { detector }: StormSight): void {
  if (isInFailureDomain(n)) String(n.failureDomain);
  for (const beacon of [detector.current, detector.beacon]) memberState(n, undefined, latestVerdict(n, beacon));
}

/** @throws what cannot be understood of it */
function readIncident(i: IncidentRecord): void {
  if (!isOpenIncident(i)) return;
  countsForNewStorm(i, StormNumbers.candidateWindow);
  // As of a node that is DEGRADED, without a permit: else not all is looked at.
  isHeldAlive(i, 'DEGRADED', false);
  isAfterOff(i);
  wasCommanded(i);
}

function without<T>(all: Records<T>, { made, failed }: Decided<Entry<T>>): Records<T> {
  const odd = failed.flatMap((f) => f.about['node'] ?? []);
  return odd.length === 0 ? all : new Records(made, new Set([...all.unreadable, ...odd]), all.live);
}

/** Without a gap, and the permits can be read. */
export const isStormKnown = ({ nodes, incidents, permits }: StormSight): boolean =>
  nodes.live && incidents.live && permits.live && !permits.unreadable.has(PERMITS_KEY);

/** What has an age that outlives its asker: permits, open incidents and storms. */
export const stormKeys = (fleet: StormSight): string[] => keysIn(stormSight(fleet).sight);

const keysIn = (f: StormSight): string[] => [
  ...grantedIn(f).map((g) => permitKey(g.incident)),
  ...openIn(f).map((i) => incidentKey(i.id)),
  ...(permitsIn(f)?.trips ?? []).flatMap((t) => [tripKey(t), calmKey(t)]),
];

/** Members that are silent as of now: who keeps their ages and who counts them look through all nodes once. */
export const silentIn = madeOnce((fleet: StormSight): readonly NodeRecord[] => {
  const { nodes, detector } = stormSight(fleet).sight;
  return nodes.list.map((e) => e.value).filter((n) => isMember(n) && isSilent(latestVerdict(n, detector.current)));
});

/** What there is to keep the ages of. Undefined: not all of it is known. */
export const stormsSeen = (f: StormSight): StormsSeen | undefined =>
  isStormKnown(f)
    ? { keys: stormKeys(f), checkpoint: permitsIn(f)?.ages, silent: silentIn(f).map((n) => n.name) }
    : undefined;

/** All ages that outlive their asker, for who comes after. */
export const checkpointIn = (f: StormSight, ages: StormAges): Record<string, number> =>
  Object.fromEntries(
    stormKeys(f)
      .toSorted()
      .map((key) => [key, Math.floor(ages.of(key))]),
  );

/** For how long it is silent: its incident may be older than the asker's look at it. */
const silentForMs = ({ incidents }: StormSight, ages: StormAges, node: string): number => {
  const i = incidents.get(node)?.value;
  const known = i !== undefined && isOpenIncident(i) ? ages.of(incidentKey(i.id)) : 0;
  return Math.max(ages.ofSilence(node), known);
};

/** For brake, domain, cap and flapping. Undefined: not all of it is known, which stops. */
export const stormFacts = (f: StormSight, ages: StormAges): StormFacts | undefined =>
  isStormKnown(f) ? asSeen(f, ages) : undefined;

/** By the records as last seen, be there a gap: of use to who shows what stands, and to nobody who decides. */
function asSeen(fleet: StormSight, ages: StormAges): StormFacts & { latch: Latch } {
  const f = stormSight(fleet).sight;
  const nodes = f.nodes.list.map((e) => e.value);
  const domains: StormFacts['domains'] = {};
  for (const n of nodes) if (isInFailureDomain(n)) (domains[n.failureDomain] ??= { members: 0 }).members++;
  return {
    limits: f.settings.fencing.storm,
    members: nodes.filter(isMember).length,
    silent: silentIn(fleet).map(({ name, failureDomain: domain }) => ({
      ...{ node: name, domain },
      forMs: silentForMs(f, ages, name),
    })),
    together: togetherIn(f, ages),
    unrecovered: f.incidents.list.filter(({ key, value }) => isCounted(f, ages, key, value)).map((e) => e.key),
    grants: grantedIn(f).map(({ incident, node }) => ({ incident, node, ageMs: ages.of(permitKey(incident)) })),
    domains,
    domainOf: (name) => f.nodes.get(name)?.value.failureDomain,
    latch: latchOf(f, ages),
  };
}

/** Who waits for spare parts has an incident that says for how long: it did not fall with whoever falls now. */
const togetherIn = (f: StormSight, ages: StormAges): NonNullable<StormFacts['together']> =>
  f.detector.silentTogether
    .filter(({ node }) => {
      const n = f.nodes.get(node)?.value;
      return n !== undefined && isMember(n);
    })
    .map(({ node, forMs }) => ({ node, forMs: Math.max(forMs, silentForMs(f, ages, node)) }))
    .filter((x) => x.forMs < StormNumbers.candidateWindow);

/**
 * What permits and storms are decided by. Undefined: not all of it is known, which stops.
 * @param newId makes the id of a storm
 */
export function permitsFacts(f: StormSight, ages: StormAges, newId: () => string): PermitsFacts | undefined {
  const storm = stormFacts(f, ages);
  if (storm === undefined) return undefined;
  const open = new Set(openIn(stormSight(f).sight).map((i) => i.id));
  return { storm, open, ageMs: (key) => ages.of(key), newId, at: f.wallMs };
}

/** As {@link nothingToKeep}; false where not all of it is known. */
export const isCalm = (f: StormSight): boolean =>
  isStormKnown(f) &&
  nothingToKeep({
    permits: permitsIn(f),
    open: openIn(stormSight(f).sight).length > 0,
    blindnessEnded: f.detector.blindnessEnded !== undefined,
    silent: () => silentIn(f).length,
  });

/** Some storm stands, as last seen. */
export const hasStorms = (f: StormSight): boolean => (permitsIn(f)?.trips ?? []).length > 0;

/** Those that stand, with their figures as of now; through a gap as last seen: nobody ends one meanwhile. */
export function stormViews(f: StormSight, ages: StormAges): StormView[] {
  if (!hasStorms(f)) return [];
  const s = asSeen(f, ages);
  return s.latch.trips.map((t) => viewOf(t, s, s.latch, ages.of(tripKey(t))));
}

/** How many are unhealthy now, and how many may be. */
export function brakeFigures(f: StormSight, ages: StormAges): { candidates: number; limit: number } {
  const s = stormFacts(f, ages);
  return s === undefined
    ? { candidates: 0, limit: 0 }
    : { candidates: candidates(s).size, limit: brakeLimit(s.members, s.limits) };
}

const permitsIn = ({ permits }: StormSight): Permits | undefined => permits.get(PERMITS_KEY)?.value;
const grantedIn = (f: StormSight): Permits['granted'] => permitsIn(f)?.granted ?? [];
const openIn = ({ incidents }: StormSight): IncidentRecord[] =>
  incidents.list.map((e) => e.value).filter(isOpenIncident);

const isCounted = (f: StormSight, ages: StormAges, key: string, i: IncidentRecord): boolean =>
  isUnrecovered(i) &&
  f.nodes.get(key)?.value.cordon === undefined &&
  countsForNewStorm(i, ages.of(incidentKey(i.id))) &&
  !isSeenAlive(f, key, i);

/** While no detector that sees the fleet is heard no verdict counts: then it counts as unhealthy. */
function isSeenAlive(f: StormSight, name: string, i: IncidentRecord): boolean {
  const node = f.nodes.get(name)?.value;
  const now = node && f.detector.sighted ? latestVerdict(node, f.detector.beacon) : undefined;
  return isHeldAlive(
    i,
    now,
    grantedIn(f).some((g) => g.incident === i.id),
  );
}

function latchOf(f: StormSight, ages: StormAges): Latch {
  const { settled, sighted, current } = f.detector;
  const now = (name: string): VerdictKind | undefined => {
    const node = f.nodes.get(name)?.value;
    return node && latestVerdict(node, current);
  };
  const open = (name: string): IncidentRecord | undefined => {
    const i = f.incidents.get(name)?.value;
    return i !== undefined && isOpenIncident(i) ? i : undefined;
  };
  const commanded = f.incidents.list.filter((e) => isOpenIncident(e.value) && wasCommanded(e.value));
  return {
    trips: permitsIn(f)?.trips ?? [],
    // Of whom nothing can be read nobody knows that it is back, or off.
    state: (name) =>
      f.nodes.unreadable.has(name) ? 'rest' : memberState(f.nodes.get(name)?.value, open(name), now(name)),
    sees: settled,
    settling: sighted && !settled,
    calmMs: (trip) => ages.of(calmKey(trip)),
    commanded: new Set(commanded.map((e) => e.key)),
    blindness: blindnessOf(f, now),
    wallNow: f.wallMs,
  };
}

/** Once everyone is judged again: who is silent then. */
function blindnessOf(f: StormSight, now: (node: string) => VerdictKind | undefined): Latch['blindness'] {
  const ended = f.detector.settled ? f.detector.blindnessEnded : undefined;
  if (ended === undefined) return undefined;
  const { epoch, seq, silent: named } = ended;
  // Who was heard since, and has died, was not silent for the same cause.
  const wasSilent = (node: string): boolean => named === undefined || named.includes(node);
  const silent = f.nodes.list
    .filter((e) => isMember(e.value) && unheard.includes(now(e.key)) && wasSilent(e.key))
    .map((e) => e.key);
  return { epoch, seq, silent };
}

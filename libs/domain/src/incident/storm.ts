import {
  brakeLimit,
  type GateCode,
  type GateResult,
  type NodeRecord,
  type StormMember,
  type StormTrip,
  type StormView,
} from '#contracts';
import {
  candidates,
  fellTogether,
  isMostOfDomain,
  isTogether,
  mostOfDomain,
  stormCounts,
  StormNumbers,
  type Latch,
  type StormCount,
  type StormFacts,
  type StormGate,
} from './storm-counts.js';

/*
 * Storms: tripped by the counts of a moment, they stand (latch) while their members come back one by one (heal), and end
 * (open) by themselves or by an operator.
 */

/** Gates that a storm stops its members at. */
export type LatchGate = 'BRAKE' | 'DOMAIN';
const latching: readonly LatchGate[] = ['BRAKE', 'DOMAIN'];
export const isLatching = (gate: GateCode): gate is LatchGate => (latching as readonly string[]).includes(gate);

type Kind = Pick<StormTrip, 'cause' | 'domain'>;

/** The id of a new one. */
export const stormId = (uuid: string): string => `s-${uuid.slice(0, 8)}`;

/** What makes a new one: its id, and the wall clock. */
export interface NewTrip {
  id(): string;
  at: number;
}

/**
 * The storms that stand after a look at the fleet. A storm is tripped by more unhealthy nodes than may be, by most of a
 * failure domain falling together, or by who is silent when a blindness ends. Who is still silent when the others come
 * back one by one is as likely alive as they were: so it stands until nobody has returned for two minutes.
 */
export function stepTrips(s: StormFacts, make: NewTrip): StormTrip[] {
  const l = s.latch;
  if (l === undefined) return [];
  let trips = l.trips.map((t) => withReturns(t, l)).filter((t) => !mayOpen(t, s));
  trips = braked(trips, s, l, make);
  for (const domain of new Set(s.silent.map((x) => x.domain))) trips = domainDown(trips, s, l, domain, make);
  return blinded(trips, l, make);
}

/** The storm that holds a node back, if any: no matter whether it has returned meanwhile. */
export const holding = (trips: readonly StormTrip[], node: string, gate: LatchGate): StormTrip | undefined =>
  trips.find((t) => gateOf(t) === gate && isMemberOf(t, node) && t.members[node]?.released === undefined);

/** Gates at which a storm that stands holds the node. */
export const heldAt = (s: StormFacts | undefined, node: string): GateCode[] =>
  latching.filter((gate) => s?.latch !== undefined && holding(s.latch.trips, node, gate) !== undefined);

/** One of the storm gates: what stands holds its members, whatever the counts are by now. */
export function askStorm(gate: StormGate, s: StormFacts, node: NodeRecord, incident?: string): GateResult {
  const l = s.latch;
  if (l?.settling === true && gate === 'BRAKE')
    return { gate, pass: false, detail: 'The detector has just begun to see: who else is silent is not known yet.' };
  const trip = l !== undefined && isLatching(gate) ? holding(l.trips, node.name, gate) : undefined;
  if (l === undefined || trip === undefined) return { gate, ...stormCounts[gate](s, node, incident) };
  return { gate, pass: false, detail: viewOf(trip, s, l, 0).detail };
}

const gateOf = (t: StormTrip): LatchGate => (t.cause === 'domain' ? 'DOMAIN' : 'BRAKE');
const isMemberOf = (t: StormTrip, node: string): boolean => Object.hasOwn(t.members, node);

/** Who is not known to be well or off, whatever its age, and was not let go by an operator. */
const restOf = (t: StormTrip, l: Pick<Latch, 'state'>): string[] =>
  Object.entries(t.members)
    .filter(([node, m]) => m.released === undefined && l.state(node) === 'rest')
    .map(([node]) => node);

interface RestCount extends StormCount {
  /** Whose nodes are counted; absent: all are. */
  domain?: string;
}

/** The limit that leaves the least room to those that are not back, of the fleet before one of a failure domain. */
function tightest(nodes: readonly string[], s: StormFacts): RestCount {
  const byDomain = new Map<string, number>();
  for (const node of nodes) {
    const domain = s.domainOf(node);
    if (domain !== undefined) byDomain.set(domain, (byDomain.get(domain) ?? 0) + 1);
  }
  const room = ({ count, limit }: StormCount): number => limit - count;
  const ofFleet: RestCount = { count: nodes.length, limit: brakeLimit(s.members, s.limits) };
  return [...byDomain]
    .map(([domain, count]): RestCount => ({ count, limit: mostOfDomain(s, domain), domain }))
    .reduce((least, c) => (room(c) < room(least) ? c : least), ofFleet);
}

function isOver(nodes: readonly string[], s: StormFacts): boolean {
  const { count, limit } = tightest(nodes, s);
  return count > limit;
}

function withReturns(t: StormTrip, l: Latch): StormTrip {
  if (!l.sees) return t;
  const back = Object.entries(t.members).filter(([node, m]) => m.returned !== true && l.state(node) === 'up');
  if (back.length === 0) return t;
  const returned = back.map(([node, m]): [string, StormMember] => [node, { ...m, returned: true }]);
  return { ...t, members: { ...t.members, ...Object.fromEntries(returned) } };
}

/** By itself: a rest over the limits is an operator's to judge, however long it lasts. */
function mayOpen(t: StormTrip, s: StormFacts): boolean {
  const l = s.latch;
  if (l === undefined || !l.sees) return false;
  return l.calmMs(t) >= StormNumbers.opensAfter && !isOver(restOf(t, l), s);
}

const isReleased = (trips: readonly StormTrip[], node: string): boolean =>
  trips.some((t) => t.members[node]?.released !== undefined);

function braked(trips: StormTrip[], s: StormFacts, l: Latch, make: NewTrip): StormTrip[] {
  const counted = [...candidates(s)].filter((node) => !isReleased(trips, node));
  const before = (s.together ?? []).filter((x) => !isReleased(trips, x.node));
  const over = Math.max(counted.length, before.length) > brakeLimit(s.members, s.limits);
  const same = trips.filter((t) => t.cause !== 'domain');
  const silent = new Set(s.silent.map((x) => x.node));
  // While one heals, who falls silent is taken for one of it; later, only where all of them together are too many.
  const healing = same.some((t) => l.calmMs(t) < StormNumbers.opensAfter);
  const fell = over ? counted : counted.filter((node) => healing && silent.has(node));
  return latched(trips, { same, fell, kind: { cause: 'brake' } }, (n) => n > brakeLimit(s.members, s.limits), l, make);
}

function domainDown(trips: StormTrip[], s: StormFacts, l: Latch, domain: string, make: NewTrip): StormTrip[] {
  const young = s.silent.filter((x) => x.domain === domain && x.forMs < StormNumbers.candidateWindow);
  const before = (s.together ?? []).filter((x) => s.domainOf(x.node) === domain);
  const over =
    young.some((x) => isMostOfDomain(s, domain, fellTogether(s, domain, x.forMs).size)) ||
    before.some((x) => isMostOfDomain(s, domain, before.filter((y) => isTogether(y.forMs, x.forMs)).length));
  const same = trips.filter((t) => t.cause === 'domain' && t.domain === domain);
  const healing = same.some((t) => l.calmMs(t) < StormNumbers.opensAfter);
  if (!over && !healing) return trips;
  const fell = young.map((x) => x.node).filter((node) => !isReleased(trips, node));
  const kind = { cause: 'domain' as const, domain };
  return latched(trips, { same, fell, kind }, (n) => isMostOfDomain(s, domain, n), l, make);
}

/**
 * Who fell joins the storm that stands, or makes one. Those that had returned and are silent again make one of their own
 * where they alone are too many: a second wave must not be let through by the clock of the first. A few that flap are
 * left as they are.
 */
function latched(
  trips: StormTrip[],
  { same, fell, kind }: { same: readonly StormTrip[]; fell: readonly string[]; kind: Kind },
  isTooMany: (count: number) => boolean,
  l: Latch,
  make: NewTrip,
): StormTrip[] {
  const free = fell.filter((node) => l.state(node) === 'rest' && !l.commanded.has(node));
  const strangers = free.filter((node) => !same.some((t) => isMemberOf(t, node)));
  const again = free.filter(
    (node) =>
      !strangers.includes(node) && same.every((t) => !isMemberOf(t, node) || t.members[node]?.returned === true),
  );
  if (isTooMany(again.length)) return [...trips, tripOf([...again, ...strangers], kind, make)];
  if (strangers.length === 0) return trips;
  const last = same.at(-1);
  if (last === undefined) return [...trips, tripOf(strangers, kind, make)];
  const joined = { ...last, members: { ...last.members, ...membersOf(strangers) } };
  return trips.map((t) => (t.id === last.id ? joined : t));
}

/**
 * Who is silent when enough members report again may be silent for what made the reports missing. Another detector tells of
 * the same end once more: who is held by such a storm, or was released from it, is not held anew.
 */
function blinded(trips: StormTrip[], l: Latch, make: NewTrip): StormTrip[] {
  const isJudged = (node: string): boolean =>
    trips.some((t) => t.cause === 'blindness' && isMemberOf(t, node) && t.members[node]?.returned !== true);
  const silent = (l.blindness?.silent ?? []).filter(
    (node) => l.state(node) === 'rest' && !l.commanded.has(node) && !isJudged(node),
  );
  return silent.length === 0 ? trips : [...trips, tripOf(silent, { cause: 'blindness' }, make)];
}

const membersOf = (nodes: readonly string[]): StormTrip['members'] =>
  Object.fromEntries([...nodes].sort().map((node) => [node, {}]));

const tripOf = (nodes: readonly string[], kind: Kind, make: NewTrip): StormTrip => ({
  id: make.id(),
  ...kind,
  at: make.at,
  members: membersOf(nodes),
});

const why: Record<StormTrip['cause'], string> = {
  brake: 'more fell silent than may at once',
  domain: 'most of a failure domain fell silent together',
  blindness: 'they were silent when the detector saw again',
};

/** What lies outside of what a date can be is said so: one odd age in a record must not end who decides. */
function utc(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? 'a time that cannot be read' : `${time.toISOString().slice(11, 19)} UTC`;
}

/** As it is shown, with its figures. */
export function viewOf(t: StormTrip, s: StormFacts, l: Latch, standsForMs: number): StormView {
  const members = Object.keys(t.members).sort();
  const rest = restOf(t, l).sort();
  const { count, limit, domain } = tightest(rest, s);
  const restDomain =
    domain === undefined ? undefined : { name: domain, rest: count, nodes: s.domains[domain]?.members ?? 0 };
  const opens = count <= limit;
  const resumesAt = l.wallNow + Math.max(0, StormNumbers.opensAfter - l.calmMs(t));
  const ofDomain =
    restDomain && ` of the ${restDomain.nodes} node${restDomain.nodes === 1 ? '' : 's'} of failure domain ${domain}`;
  const named = `Storm ${t.id} of ${members.length} node(s): ${why[t.cause]}; ${count}${ofDomain ?? ''} ${count === 1 ? 'is' : 'are'} not back, at most ${limit} may be.`;
  const end = opens
    ? `Fencing of its members resumes at ${utc(resumesAt)}, two minutes after the last one's first return.`
    : 'It does not end by itself: see "muster storm get", then release or confirm them.';
  return {
    id: t.id,
    cause: t.cause,
    ...(t.domain !== undefined && { domain: t.domain }),
    at: t.at,
    members,
    returned: members.filter((node) => t.members[node]?.returned === true),
    rest,
    released: members.filter((node) => t.members[node]?.released !== undefined),
    limit,
    ...(restDomain && { restDomain }),
    standsForMs: Math.round(standsForMs),
    ...(opens && { resumesAt: Math.round(resumesAt) }),
    detail: `${named} ${end}`,
  };
}

import {
  brakeLimit,
  capLimit,
  isEndedJob,
  isPaused,
  waitsForMoves,
  type ClusterSettings,
  type GateCode,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type StormTrip,
} from '#contracts';
import { isUnrecovered } from '#domain/incident/candidates.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { isMostOfDomain, StormNumbers } from '#domain/incident/storm-counts.js';
import { holding, type LatchGate } from '#domain/incident/storm.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import { isInFailureDomain, isMember } from '#domain/node/membership.js';
import { hasUnprovenDevice, isOffInDoubt } from './proof-truth.js';

/** What is true, and what operators have set, as far as gates ask for it. Times in virtual ms. */
export interface GateWorld {
  nowMs: () => number;
  speaks: (node: string) => boolean;
  isHung: (node: string) => boolean;
  /** The monitor's last word of it, which it makes from what is true. */
  isCalledUp: (node: string) => boolean;
  isCalledDead: (node: string) => boolean;
  lacksQuorum: () => boolean;
  /** Since when nobody hears it; undefined: it speaks. */
  silentSinceMs: (node: string) => number | undefined;
  node: (node: string) => NodeRecord | undefined;
  nodes: () => readonly NodeRecord[];
  /** Its power device switches another machine. */
  isMiswired: (node: string) => boolean;
  /** That holds it by the reservations. */
  jobOf: (node: string) => JobRecord | undefined;
  openIncidents: () => readonly IncidentRecord[];
  settings: () => ClusterSettings | undefined;
  /** Wall clock of who conducts; undefined: nobody does now. */
  wallMs: () => number | undefined;
  /** Permits that are on record, and since when. */
  permits: () => readonly { incident: string; node: string; sinceMs: number }[];
  /** Storms that stand, and since when no member of them has come back for the first time. */
  storms: () => readonly { trip: StormTrip; calmSinceMs: number }[];
  /** Without it no majority of the servers of the bus is left. */
  takesTheBus: (node: string) => boolean;
}

/**
 * Who conducts anew knows ages by the last checkpoint, which may be ten seconds old, and a history ends conductors a few
 * times: what ends by an age may so much later, ms.
 */
const AGES_LOST_MS = 40_000;

type Truth = (i: IncidentRecord, w: GateWorld) => boolean;

/** Gate → what must be so for it to hold an incident, with faults over. A gate that comes has to be decided on here. */
const truths: Readonly<Record<GateCode, Truth>> = {
  // Power devices answer at the end, so that of two members the missing witness holds none.
  BLIND: (i, w) => w.lacksQuorum() || (i.cause === 'auto' && !w.isCalledDead(i.node)),
  NOT_FENCEABLE: (i, w) => isUnfenceable(i, w) || (!isReleased(i, 'NOT_FENCEABLE') && isNotToBeFenced(i, w)),
  // A node has one record of an incident.
  ALREADY_OPEN: () => false,
  // A hung host is held for ten seconds where the policy is to fence it.
  LIFE_SIGN: (i, w) => w.speaks(i.node) || (w.isHung(i.node) && w.settings()?.fencing.hung === 'alarm'),
  BRAKE: (i, w) => isInStorm('BRAKE', i, w) || isBraked(i, w) || isInDoubt(i, w),
  DOMAIN: (i, w) => isInStorm('DOMAIN', i, w) || isDomainDown(i, w),
  CAP: (i, w) => {
    const limits = w.settings()?.fencing.storm;
    return limits === undefined || permitsBeside(i, w).length >= capLimit(membersIn(w).length, limits);
  },
  QUORUM: (i, w) => w.takesTheBus(i.node),
  // Where nobody conducts it is not known by whose clock it would be over.
  PAUSED: (_i, w) => isPaused(w.settings()?.fencing.paused, w.wallMs() ?? -Infinity),
  OBSERVE: (_i, w) => w.settings()?.fencing.mode !== 'enforce',
  FLAPPING: (i, w) => {
    const flaps = w.settings()?.fencing.storm.flaps ?? 0;
    return permitsBeside(i, w).filter((p) => p.node === i.node).length >= flaps;
  },
};

/** Is it so, what a gate that holds an incident says? */
export function isGateTrue(gate: GateCode, i: IncidentRecord, w: GateWorld): boolean {
  if (isOverByLife(i, w)) return false;
  // What no release lifts is told apart in its row.
  if (isReleased(i, gate) && gate !== 'NOT_FENCEABLE') return false;
  return truths[gate](i, w);
}

/** Does a storm stand that holds this node, and that has no end yet? */
export function isInStorm(gate: LatchGate, i: IncidentRecord, w: GateWorld): boolean {
  if (isReleased(i, gate)) return false;
  const trips = w.storms().map((s) => s.trip);
  const trip = holding(trips, i.node, gate);
  const calmSinceMs = w.storms().find((s) => s.trip === trip)?.calmSinceMs;
  if (trip === undefined || calmSinceMs === undefined) return false;
  // Who does not see the fleet ends none.
  if (w.lacksQuorum() || w.nowMs() - calmSinceMs < StormNumbers.opensAfter + AGES_LOST_MS) return true;
  return isTooMany(restOf(trip, w), w);
}

const isReleased = (i: IncidentRecord, gate: GateCode): boolean => i.released?.gates.includes(gate) === true;

/** Its node is called up, and no person wanted it off while it was heard. */
function isOverByLife(i: IncidentRecord, w: GateWorld): boolean {
  if (!w.speaks(i.node) || !w.isCalledUp(i.node) || w.lacksQuorum()) return false;
  const isWanted = i.cause === 'manual' || i.released?.force === true;
  return !isWanted || (i.wantedAt !== undefined && !isHeardVerdict(i.wantedAt));
}

/** A drill goes by who falls silent with it: that may be by chance. */
export const isBlamedByDrill = (n: NodeRecord | undefined): boolean =>
  Object.values(n?.powerIdentity ?? {}).some(
    (d) => d.result === 'mismatch' && d.why?.startsWith('by a drill: ') === true,
  );

/** Two nodes never have their devices at one place here, and fencers run on hosts that are no nodes. */
const isUnfenceable: Truth = ({ node }, w) =>
  w.isMiswired(node) ||
  isBlamedByDrill(w.node(node)) ||
  w.node(node)?.powerLevels.some((level) => level.length > 0) !== true;

const isNotToBeFenced: Truth = ({ node, cause }, w) => {
  const n = w.node(node);
  const job = w.jobOf(node);
  const isUntouched = job !== undefined && waitsForMoves(job);
  const isChanged = job !== undefined && !isEndedJob(job) && job.kind !== 'check' && !isUntouched;
  const isOut = n?.cordon !== undefined || (n?.status !== 'Allocated' && !isUntouched);
  return isOut || isChanged || (cause === 'auto' && n?.fencing === 'manual');
};

const membersIn = (w: GateWorld): NodeRecord[] => w.nodes().filter(isMember);

const permitsWithin = (w: GateWorld, windowMs: number): ReturnType<GateWorld['permits']> =>
  w.permits().filter((p) => w.nowMs() - p.sinceMs < windowMs + AGES_LOST_MS);

/** Of the last ten minutes, but its own. */
const permitsBeside = (i: IncidentRecord, w: GateWorld): ReturnType<GateWorld['permits']> =>
  permitsWithin(w, StormNumbers.capWindow).filter((p) => p.incident !== i.id);

/** More are silent, in an incident or just permitted than may be. */
const isBraked: Truth = (i, w) => {
  const limits = w.settings()?.fencing.storm;
  if (limits === undefined) return true;
  const members = membersIn(w);
  const candidates = new Set([
    i.node,
    ...members.map((n) => n.name).filter((name) => !w.speaks(name)),
    ...w
      .openIncidents()
      .filter((x) => isUnrecovered(x) && w.node(x.node)?.cordon === undefined)
      .map((x) => x.node),
    ...permitsWithin(w, StormNumbers.brakeWindow).map((p) => p.node),
  ]);
  return candidates.size > brakeLimit(members.length, limits);
};

/** A power-off by another device that is not proven may have hit another node, and so may one by its own. */
const isInDoubt: Truth = (i, w) => {
  const n = w.node(i.node);
  return n !== undefined && hasUnprovenDevice(n) && w.openIncidents().some((x) => x.id !== i.id && isOffInDoubt(x));
};

/** Most of its failure domain fell silent, or was permitted, within a minute of it. */
const isDomainDown: Truth = (i, w) => {
  const domain = w.node(i.node)?.failureDomain;
  const sinceMs = w.silentSinceMs(i.node);
  if (domain === undefined || sinceMs === undefined) return false;
  const isTogether = (atMs: number | undefined): boolean =>
    atMs !== undefined && Math.abs(atMs - sinceMs) < StormNumbers.domainWindow + AGES_LOST_MS;
  const fell = new Set([
    i.node,
    ...membersIn(w)
      .filter((n) => isTogether(w.silentSinceMs(n.name)))
      .map((n) => n.name),
    ...w
      .permits()
      .filter((p) => isTogether(p.sinceMs))
      .map((p) => p.node),
  ]);
  const count = [...fell].filter((name) => w.node(name)?.failureDomain === domain).length;
  return isMostOfDomain({ domains: domainsIn(w) }, domain, count);
};

function domainsIn(w: GateWorld): Record<string, { members: number }> {
  const domains: Record<string, { members: number }> = {};
  for (const n of w.nodes()) if (isInFailureDomain(n)) (domains[n.failureDomain] ??= { members: 0 }).members++;
  return domains;
}

/** Members of a storm that are neither heard nor off, and that nobody has let go. */
const restOf = (trip: StormTrip, w: GateWorld): NodeRecord[] =>
  Object.entries(trip.members).flatMap(([name, { released }]) => {
    const n = w.node(name);
    const isOff = w.openIncidents().some((i) => i.node === name && isAfterOff(i));
    return n !== undefined && isMember(n) && !isOff && released === undefined && !w.speaks(name) ? [n] : [];
  });

function isTooMany(rest: readonly NodeRecord[], w: GateWorld): boolean {
  const limits = w.settings()?.fencing.storm;
  if (limits === undefined || rest.length > brakeLimit(membersIn(w).length, limits)) return true;
  const domains = domainsIn(w);
  return rest.some((n) =>
    isMostOfDomain({ domains }, n.failureDomain, rest.filter((x) => x.failureDomain === n.failureDomain).length),
  );
}

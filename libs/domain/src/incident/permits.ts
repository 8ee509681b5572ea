import { type GateCode, type GateResult, type NodeRecord, type Permits, type StormTrip } from '#contracts';
import { isNewer } from '../verdict/newer.js';
import { StormNumbers, type Grant, type StormFacts } from './storm-counts.js';
import { askStorm, heldAt, stepTrips } from './storm.js';

/** Names in a checkpoint of ages: of a permit, since it was given. */
export const permitKey = (incident: string): string => `permit/${incident}`;
/** Of an open incident. */
export const incidentKey = (incident: string): string => `incident/${incident}`;
/** For how long a storm has stood. */
export const tripKey = (t: Pick<StormTrip, 'id'>): string => `storm/${t.id}`;
/** Since the last first return of a member: each begins anew, so each has a key of its own. */
export const calmKey = (t: Pick<StormTrip, 'id' | 'members'>): string =>
  `calm/${t.id}/${Object.values(t.members).filter((m) => m.returned === true).length}`;

/** What a decider knows beside the record itself, which is read inside the compare-and-set. */
export interface PermitsFacts {
  storm: Omit<StormFacts, 'grants'>;
  /** Incidents that are still open: their permits are kept whatever their age. */
  open: ReadonlySet<string>;
  /** On the decider's own clock and by the checkpoint that it has seen; 0 where it knows nothing: unknown is recent. */
  ageMs(key: string): number;
  /** Makes the id of a storm. */
  newId(): string;
  /** Wall clock, for people. */
  at: number;
  /** All ages, where a checkpoint is due. */
  checkpoint?: Record<string, number>;
}

export interface PermitRequest extends PermitsFacts {
  incident: string;
  node: NodeRecord;
  /** Gates that an operator released for this incident. */
  released: readonly GateCode[];
}

/** `permits`: to be written, also where none was granted. */
export type PermitDecision =
  | { granted: true; permits: Permits | undefined; results: GateResult[] }
  | { granted: false; permits: Permits | undefined; gate: GateResult; results: GateResult[] };

const permitGates = ['BRAKE', 'DOMAIN', 'CAP', 'FLAPPING'] as const;

/** What a look at the fleet rests on, as far as it tells whether there is anything to count. */
export interface KeepFacts {
  permits: Permits | undefined;
  /** Some incident is open. */
  open: boolean;
  /** A blindness has just ended. */
  blindnessEnded: boolean;
  /** Members that are silent as of now; asked last. */
  silent: () => number;
}

/** No node is unhealthy and nothing stands: {@link keepPermits} has nothing to write, but for the ages of a checkpoint. */
export const nothingToKeep = ({ permits, open, blindnessEnded, silent }: KeepFacts): boolean =>
  !open &&
  !blindnessEnded &&
  (permits?.granted.length ?? 0) === 0 &&
  (permits?.trips?.length ?? 0) === 0 &&
  silent() === 0;

/** The record after a look at the fleet: storms stepped, old permits pruned. Undefined: there is nothing to write. */
export function keepPermits(current: Permits | undefined, l: PermitsFacts): Permits | undefined {
  const { next, changed } = stepped(current, l);
  return changed || (l.checkpoint !== undefined && isWorthKeeping(next)) ? next : undefined;
}

/** Ages that decide nothing any more are not written again and again. */
const isWorthKeeping = (p: Permits): boolean =>
  (p.trips ?? []).length > 0 || Object.values(p.ages ?? {}).some((ms) => ms < StormNumbers.candidateWindow);

/**
 * Brake, domain, cap and flapping over the permits as they are in the store at this very revision: of two deciders that
 * both think they are the last under the limit, the second finds the first one's permit. Asking again is answered the
 * same, as long as no storm holds the node: a permit is given once per incident.
 */
export function decidePermit(current: Permits | undefined, r: PermitRequest): PermitDecision {
  const { facts, next, changed } = stepped(current, r);
  const written = changed ? next : undefined;
  const results: GateResult[] = permitGates.map((gate) => askStorm(gate, facts, r.node, r.incident));
  const stops = (x: GateResult): boolean => !x.pass && !r.released.includes(x.gate);
  if (next.granted.some((g) => g.incident === r.incident)) {
    const held = results.find((x) => stops(x) && heldAt(facts, r.node.name).includes(x.gate));
    if (held !== undefined) return { granted: false, permits: written, gate: held, results };
    return { granted: true, permits: written, results };
  }
  const stopped = results.find(stops);
  if (stopped !== undefined) return { granted: false, permits: written, gate: stopped, results };
  const granted = [...next.granted, { incident: r.incident, node: r.node.name, at: r.at }];
  return { granted: true, permits: { ...next, granted }, results };
}

function stepped(
  current: Permits | undefined,
  l: PermitsFacts,
): { facts: StormFacts; next: Permits; changed: boolean } {
  const was: Permits = current ?? { granted: [] };
  const age = (key: string): number => Math.max(l.ageMs(key), was.ages?.[key] ?? 0);
  const granted = was.granted.filter(
    (g) => l.open.has(g.incident) || age(permitKey(g.incident)) < StormNumbers.capWindow,
  );
  const grants: Grant[] = granted.map((g) => ({
    incident: g.incident,
    node: g.node,
    ageMs: age(permitKey(g.incident)),
  }));
  const { latch, ...rest } = l.storm;
  const facts: StormFacts = { ...rest, grants };
  if (latch === undefined) return { facts, next: { ...was, granted }, changed: granted.length < was.granted.length };
  const { blindness } = latch;
  const isNews = blindness !== undefined && isNewer(blindness, was.blindness);
  const before = { ...latch, trips: was.trips ?? [], blindness: isNews ? blindness : undefined };
  const trips = stepTrips({ ...facts, latch: before }, { id: () => l.newId(), at: l.at });
  const next: Permits = {
    ...was,
    granted,
    ...(trips.length > 0 || was.trips !== undefined ? { trips } : {}),
    ...(isNews && { blindness: { epoch: blindness.epoch, seq: blindness.seq } }),
    ...(l.checkpoint !== undefined && { ages: l.checkpoint }),
  };
  const changed =
    isNews || granted.length < was.granted.length || JSON.stringify(trips) !== JSON.stringify(was.trips ?? []);
  return { facts: { ...facts, latch: { ...before, trips } }, next, changed };
}

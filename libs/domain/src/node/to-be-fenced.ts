import {
  identityStanding,
  isEndedJob,
  knownIdentity,
  waitsForMoves,
  type JobRecord,
  type NodeRecord,
} from '#contracts';

/*
 * Is a node to be fenced? Three questions, by how much is asked of it, and each looks at what the others do not:
 *
 *                              enrolled  fencing: auto   cordon  status         device, job, fencers, place, identity
 *  {@link isFencedAutomatically}  yes       yes             no      no             no
 *  {@link isFencedByVerdict}      yes       yes             yes     Allocated      no
 *  {@link whyNotFenced}           no        cause auto      yes     Allocated, or  yes
 *                                                                a job waits for moves
 *
 * None of them asks for the system's own `maintenance`, or for a return that waits for its check. These keep new work away
 * from a node; what is assigned to it, or was left running there, has to be recovered when it dies all the same. One that
 * would pass over such a node leaves that work dead until an operator sees it. A node that dies, boots and dies again is
 * stopped by gate FLAPPING.
 */

/**
 * By its configuration: Muster is to power it off when it dies, so it needs a power device. Neither its status nor a cordon
 * counts, which both pass.
 */
export const isFencedAutomatically = (n: Pick<NodeRecord, 'enrolled' | 'fencing'>): boolean =>
  n.enrolled && n.fencing === 'auto';

/**
 * As its record stands now: a verdict alone would power it off, as it serves and no operator has taken it out. Whether it
 * can be powered off, and what else is about it at the moment, is not asked: by this the fleet is counted, and are devices tested
 * before the mode is set to enforce.
 */
export const isFencedByVerdict = (n: Pick<NodeRecord, 'enrolled' | 'fencing' | 'cordon' | 'status'>): boolean =>
  isFencedAutomatically(n) && n.cordon === undefined && n.status === 'Allocated';

/** What gate NOT_FENCEABLE looks at. */
export interface FenceabilityFacts {
  cause: 'auto' | 'manual';
  node: NodeRecord;
  /** Job that holds a reservation on the node. `undefined` in a known view: none. Missing view: treated as reserved. */
  reservedBy?: { known: boolean; job?: JobRecord | undefined; by?: string | undefined } | undefined;
  /** Live fencers that run elsewhere than on this node. */
  otherFencers?: number | undefined;
  /** A device of it that is where another node has its own: an off could reach either. */
  sharedPlace?: { device: string; place: string; node: string } | undefined;
}

/** Why it cannot be powered off, which no release can lift: there is nothing that is known to switch off this one. */
export function unfenceable(f: Pick<FenceabilityFacts, 'node' | 'otherFencers' | 'sharedPlace'>): string | undefined {
  if (!f.node.powerLevels.some((level) => level.length > 0)) return 'It has no power device.';
  if (f.sharedPlace !== undefined)
    return `Its power device ${f.sharedPlace.device} is at ${f.sharedPlace.place}, where ${f.sharedPlace.node} has its own: an off could reach either.`;
  const foreign = f.node.powerLevels.flat().find((d) => identityStanding(f.node, d) === 'mismatch');
  if (foreign !== undefined)
    return `Its power device ${foreign.id} is not its own: ${knownIdentity(f.node, foreign)?.why ?? 'its identity differs'}.`;
  if (f.otherFencers === undefined) return 'It is not known which fencers are alive.';
  if (f.otherFencers === 0) return 'No live fencer runs outside of it.';
  return undefined;
}

/**
 * Why this incident may not power it off now: it cannot be ({@link unfenceable}), or it may not, which an operator can
 * release. Undefined: it may. An order by hand goes past `fencing: manual`; that a node is enrolled was asked when its
 * incident was opened. A node whose job waits until its workloads have moved away is as good as Allocated.
 */
export function whyNotFenced(f: FenceabilityFacts): string | undefined {
  const hard = unfenceable(f);
  if (hard !== undefined) return hard;
  const n = f.node;
  if (n.cordon !== undefined) return `It is cordoned by ${n.cordon.by}: ${n.cordon.reason}.`;
  const r = f.reservedBy;
  // A job that waits until workloads have moved away has done nothing to it: what it still runs must be recovered.
  const untouched = r?.known === true && r.job !== undefined && waitsForMoves(r.job);
  if (n.status !== 'Allocated' && !untouched) return `Its status is ${n.status}, not Allocated.`;
  if (f.cause === 'auto' && n.fencing === 'manual') return 'Its fencing is manual: an operator decides.';
  if (r === undefined || !r.known) return 'It is not known whether a job holds it.';
  // One that only looks changes nothing that a power-off could interrupt; of a dead node it may hang for long.
  const changes = r.job !== undefined && r.job.kind !== 'check' && !untouched;
  if (r.job !== undefined && !isEndedJob(r.job) && changes) return `The ${r.job.kind} job ${r.job.id} holds it.`;
  if (r.job === undefined && r.by !== undefined) return `${r.by} holds it.`;
  return undefined;
}

import type { IncidentRecord, RpcAnswer } from '#contracts';
import type { PowerRead } from '#domain/power/power-read.js';
import type { PowerWish } from '#domain/power/power-wish.js';
import type { RecheckAnswer } from '#domain/power/recheck-answer.js';
import type { IdentityRead } from '#domain/power/whose-device.js';

/**
 * What a fencer has seen itself of one attempt at a node's power, and forgets with it. Times on its own monotonic clock, ms.
 */
export interface Attempt {
  /** See {@link attemptKey}. */
  key: string;
  /** When its level 0 began, or would have begun. */
  sinceMs: number;
  /** In the order of their ends. */
  reads: PowerRead[];
  /** How many of these are in the record. */
  recordedReads: number;
  /** Device → when the last command that could change its power ended. */
  endedMs: Record<string, number>;
  /** Inventory's last answer to the recheck. */
  recheck?: RecheckAnswer;
  /** Who the devices said they are, as read here. */
  identities: IdentityRead[];
  /** The same as inventory knew it with its last answer that told of it. */
  handed: IdentityRead[];
}

/** Another incident, another attempt, or another order: what was seen for the one counts for no other. */
export const attemptKey = (i: IncidentRecord, wish: PowerWish): string =>
  `${i.id}/${i.attempt}/${wish.orderer}/${wish.orderer === 'operator' ? wish.order.at : 0}`;

/** One of which nothing has been seen yet. */
export const newAttempt = (key: string, sinceMs: number): Attempt => ({
  ...{ key, sinceMs, reads: [], recordedReads: 0, endedMs: {} },
  ...{ identities: [], handed: [] },
});

/** Who the devices said they are, whoever asked them. */
export const identitiesOf = (a: Attempt): IdentityRead[] => [...a.handed, ...a.identities];

/** Reads that are not in the record yet. */
export const unrecordedReads = (a: Attempt): PowerRead[] => a.reads.slice(a.recordedReads);

/**
 * What inventory has read of the devices, as it hands it over with its answer to the recheck.
 * @param askedMs inventory was asked then: what it had read was no younger than its age, counted from there
 */
export const handedReads = (
  { ageMs, devices }: NonNullable<RpcAnswer<'inventory.incidents.recheck'>['identity']>,
  askedMs: number,
): IdentityRead[] =>
  devices.map(({ id, basis, seen }) => ({
    ...{ device: id, basis, seen, byOther: true },
    ...{ startedMs: askedMs - ageMs, endedMs: askedMs - ageMs },
  }));

import {
  isOpenIncident,
  type FencingSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { dropClaim } from '../claim/claim-holds.js';
import { withoutOrder } from '../incident/pending-order.js';
import { isAfterOff, mayCancel } from '../incident/phases.js';
import { isOffByIncident } from '../incident/proven-off.js';
import { go, note } from '../incident/steps.js';
import { jobAfter } from '../job/changes.js';

/**
 * What a record becomes when its store is of an earlier moment than now: what it had begun was ended since, by people or
 * machines that it does not know. Nothing of it is gone on with; what is dead now is judged anew.
 */
export interface Superseded {
  /** Why, for people: a sentence without its full stop. */
  why: string;
  /** Wall clock, ms: for people. */
  at: number;
}

/**
 * Before its first command it is cancelled. After it the verdict as of then decides, once fencing is resumed. A proof of
 * off is void: the node may run since, and unknown is not off. An order to its power is void, too. Undefined: it stands.
 */
export function supersededIncident(i: IncidentRecord, { why, at }: Superseded): IncidentRecord | undefined {
  const text = `${why}: it is judged anew.`;
  if (!isOpenIncident(i)) {
    const over = withoutOrder(i, `${why}.`);
    return over === i ? undefined : over;
  }
  if (mayCancel(i)) return go(i, 'cancelled', text, at);
  if (!isAfterOff(i)) return withoutOrder(note(i, text, at), `${why}.`);
  const { proof: _void, powerOn: _on, collateral: _held, ...rest } = i;
  const failed = withoutOrder(go(rest, 'failed', `${text} Its proof of off is void.`, at), `${why}.`);
  delete failed.retryAt;
  return i.drill === undefined ? failed : { ...failed, drill: { ...i.drill, result: { ok: false, at, detail: why } } };
}

/** The node of an incident whose proof was void: it counts as a member again, and is checked when it is heard. Undefined: it stands. */
export function supersededNode(n: NodeRecord, incident: string, { at }: Superseded): NodeRecord | undefined {
  if (!isOffByIncident(n, { id: incident })) return undefined;
  const { confirmedOff: _off, ...rest } = n;
  return { ...rest, pendingReturn: n.pendingReturn ?? { reason: 'disappeared', at } };
}

/** It has failed, and is never run again: its nodes may serve by now. Undefined: it has ended. */
export const supersededJob = (job: JobRecord, by: Superseded): JobRecord | undefined =>
  jobAfter(job, { kind: 'superseded', ...by });

/** Claims are taken anew by who still needs them. Undefined: there is none. */
export function withoutClaims(r: Reservations): Reservations | undefined {
  const ids = Object.keys(r.claims ?? {});
  return ids.length === 0 ? undefined : ids.reduce((now, id) => dropClaim(now, id) ?? now, r);
}

/** Nothing is powered off, or on, until a person has looked. */
export const pausedFor = (f: FencingSettings, { why }: Pick<Superseded, 'why'>): FencingSettings => ({
  ...f,
  paused: { reason: why, by: 'muster store' },
});

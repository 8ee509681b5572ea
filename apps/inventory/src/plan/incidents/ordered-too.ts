import type { IncidentRecord, PowerOrder, VerdictKind } from '#contracts';
import { isOrderPending, withoutOrder } from '#domain/incident/pending-order.js';
import { note } from '#domain/incident/steps.js';
import { standingRelease } from '#domain/incident/verdict-effect.js';
import { withheld } from './withheld.js';

/** A person's order to power a node off. */
export interface OrderToFence {
  by: string;
  reason: string;
  /** Wall clock, for people. */
  at: number;
  /** The verdict as of now. */
  wantedAt: VerdictKind;
  /** The second half of a cycle. */
  thenOn?: PowerOrder;
}

/**
 * What an order to fence makes of the node's open incident. One of a verdict is an order by hand from then on: else the
 * next verdict would cancel what an operator was told is under way. Once it is recovered nothing is left to be ordered
 * but that it stays off.
 */
export function orderedToo(i: IncidentRecord, o: OrderToFence): IncidentRecord {
  const { by, reason, at, wantedAt, thenOn } = o;
  const opened = i.cause === 'auto' ? ` (opened by a verdict: ${i.reason})` : '';
  const noted: IncidentRecord = { ...note(i, `${by} ordered it too: ${reason}${opened}`, at), wantedAt };
  // This order is about a node that lives.
  if (standingRelease(i, wantedAt) === undefined) delete noted.released;
  const next = thenOn === undefined ? off(noted, o) : cycled(noted, thenOn);
  return i.cause === 'auto' && i.phase !== 'recovered' ? { ...next, cause: 'manual', by, reason, orderedAt: at } : next;
}

/** Off, said after cycle, or while it is to be switched on after its recovery, means that it stays off. */
function off(i: IncidentRecord, { by, at }: OrderToFence): IncidentRecord {
  const why = `${by} ordered it off.`;
  return withoutOrder(withheld(i, why, at) ?? i, why);
}

/** Recovered, it is switched on already, or stays off for what its story says. */
const cycled = (i: IncidentRecord, thenOn: PowerOrder): IncidentRecord =>
  i.phase === 'recovered' || isOrderPending(i) ? i : { ...i, order: thenOn };

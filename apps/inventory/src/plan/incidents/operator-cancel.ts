import type { IncidentRecord, VerdictKind } from '#contracts';
import { go } from '#domain/incident/steps.js';
import { operatorCancelText } from '#domain/incident/operator-cancel-text.js';
import { isDownByPolicy } from '#domain/incident/verdict-effect.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';

/**
 * Cancelled by an operator before its first command.
 * @param o `now`: the verdict as of now
 * @throws MusterError INCIDENT_STATE
 */
export function cancelByOperator(
  i: IncidentRecord,
  o: { by: string; reason: string; at: number; now: VerdictKind | undefined },
): IncidentRecord {
  const { by, reason, at } = o;
  const next = { ...go(i, 'cancelled', operatorCancelText(by, reason), at), takenBack: { by, reason, at } };
  return operatorCancelOver(next, o.now, undefined) ?? next;
}

/** An operator cancelled it, and the node was not heard since: then none is opened by itself. */
export const isCancelledByOperator = (i: Pick<IncidentRecord, 'phase' | 'takenBack'>): boolean =>
  i.phase === 'cancelled' && i.takenBack !== undefined && i.takenBack.over !== true;

/**
 * One that an operator cancelled, once its node is heard again, or runs another boot: the next death is another one.
 * Undefined: the cancel stands. For one that policy treats as DOWN while it is DEGRADED, only UP counts.
 */
export function operatorCancelOver(
  i: IncidentRecord,
  now: VerdictKind | undefined,
  bootId: string | undefined,
): IncidentRecord | undefined {
  if (!isCancelledByOperator(i) || i.takenBack === undefined) return undefined;
  const heard = isHeardVerdict(now) && !isDownByPolicy(i, now);
  const booted = bootId !== undefined && i.bootId !== undefined && bootId !== i.bootId;
  return heard || booted ? { ...i, takenBack: { ...i.takenBack, over: true } } : undefined;
}

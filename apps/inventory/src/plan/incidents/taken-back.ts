import type { IncidentRecord, VerdictKind } from '#contracts';
import { go } from '#domain/incident/steps.js';
import { takenBackText } from '#domain/incident/taken-back-text.js';
import { isDownByPolicy } from '#domain/incident/verdict-effect.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';

/**
 * Taken back by a person before its first command.
 * @param o `now`: the verdict as of now
 * @throws MusterError INCIDENT_STATE
 */
export function takenBack(
  i: IncidentRecord,
  o: { by: string; reason: string; at: number; now: VerdictKind | undefined },
): IncidentRecord {
  const { by, reason, at } = o;
  const next = { ...go(i, 'cancelled', takenBackText(by, reason), at), takenBack: { by, reason, at } };
  return takenBackOver(next, o.now, undefined) ?? next;
}

/** A person took it back, and the node was not heard since: then none is opened by itself. */
export const isTakenBack = (i: Pick<IncidentRecord, 'phase' | 'takenBack'>): boolean =>
  i.phase === 'cancelled' && i.takenBack !== undefined && i.takenBack.over !== true;

/**
 * What was taken back once its node is heard again, or runs another boot: the next death is another one. Undefined: it
 * stands. For one that policy treats as DOWN while it is DEGRADED, only UP counts.
 */
export function takenBackOver(
  i: IncidentRecord,
  now: VerdictKind | undefined,
  bootId: string | undefined,
): IncidentRecord | undefined {
  if (!isTakenBack(i) || i.takenBack === undefined) return undefined;
  const heard = isHeardVerdict(now) && !isDownByPolicy(i, now);
  const booted = bootId !== undefined && i.bootId !== undefined && bootId !== i.bootId;
  return heard || booted ? { ...i, takenBack: { ...i.takenBack, over: true } } : undefined;
}

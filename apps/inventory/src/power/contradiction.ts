import type { IncidentRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';

/** Reports that were on their way when the power went off are no sign of life, ms. */
export const ON_THE_WAY_MS = 1_000;

/**
 * The very boot that was proven off, or that a person vouched for, speaks: the power device is another machine's, or
 * the person erred. Nothing that it ran may be started anywhere. What another process has heard, or found of the device,
 * is on record.
 * @param provenForMs since this process first saw the proof
 * @param heard the node's last report
 */
export function isContradicted(
  i: Pick<IncidentRecord, 'phase' | 'bootId' | 'proof'>,
  provenForMs: number,
  heard: { bootId: string; agoMs: number } | undefined,
): boolean {
  if (!isAfterOff(i)) return false;
  if (i.proof?.doubt !== undefined) return true;
  if (heard === undefined || i.bootId === undefined) return false;
  return heard.bootId === i.bootId && heard.agoMs < provenForMs - ON_THE_WAY_MS;
}

import { FencingNumbers, POWER_QUARANTINE_MS, type IncidentRecord, type PowerCommand } from '#contracts';
import type { AgeBook } from './age-book.js';

const last = (i: IncidentRecord): PowerCommand | undefined => i.commands.findLast((c) => c.verb === 'off');

/**
 * Has W passed since the last `off` ended, or its owner was lost, on this process's own clock? An entry without an end
 * may still be carried out: its guard ends it within the command limit of its writing, so W counts from when this
 * process first saw the entry, and again from when it saw the end.
 */
export function quarantineOver(i: IncidentRecord, seen: AgeBook): boolean {
  const c = last(i);
  if (c === undefined) return true;
  return seen.see(`${i.id}/${c.n}/${c.endedAt === undefined ? 'given' : 'ended'}`) >= POWER_QUARANTINE_MS;
}

/** For a person who stands at the machine: do not power it on before this wall-clock time. Undefined: no command was given. */
export function doNotPowerOnBefore(i: IncidentRecord): number | undefined {
  const c = last(i);
  if (c === undefined) return undefined;
  return (c.endedAt ?? c.at + FencingNumbers.commandLimit) + POWER_QUARANTINE_MS;
}

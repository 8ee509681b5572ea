import {
  FencingNumbers,
  POWER_QUARANTINE_MS,
  type CommandLog,
  type IncidentRecord,
  type PowerCommand,
} from '#contracts';

/*
 * The power quarantine: a command may be carried out so much later than it was given. So for {@link POWER_QUARANTINE_MS}
 * after the last `off` ended, or its owner was lost, nobody powers the node on, releases it or sets it up anew. It is
 * counted on the asker's own monotonic clock, from when it first saw the `off` as it stands.
 */

/** Commands are numbered within one incident, or within the orders to a node without one. */
type Commanded = CommandLog & Pick<IncidentRecord, 'id'>;

/** The last `off` that was ordered of any device, whatever came of it. */
export const lastOff = (log: CommandLog): PowerCommand | undefined => log.commands.findLast((c) => c.verb === 'off');

/**
 * The last `off` as it stands in the record, as a key for the asker's clock: an entry without an end may still be
 * carried out, since its guard ends it within the command limit of its writing. So the quarantine counts from when the
 * entry was first seen, and again from when its end was.
 */
export function offMark(i: Commanded): string {
  const off = lastOff(i);
  return `${i.id}/${off?.n ?? 0}/${off?.endedAt === undefined ? 'given' : 'ended'}`;
}

/** What is left of it, ms; 0: it has passed, or no `off` was ordered. @param seen ages of keys on the asker's own clock */
export const quarantineLeftMs = (i: Commanded, seen: { see(key: string): number }): number =>
  lastOff(i) === undefined ? 0 : Math.max(0, POWER_QUARANTINE_MS - seen.see(offMark(i)));

/** Has it passed? Where no `off` was ordered there is none. @param seen ages of keys on the asker's own clock */
export const quarantineOver = (i: Commanded, seen: { see(key: string): number }): boolean =>
  quarantineLeftMs(i, seen) === 0;

/** For a person who stands at the machine: do not power it on before this wall-clock time. Undefined: no command was given. */
export function doNotPowerOnBefore(log: CommandLog): number | undefined {
  const off = lastOff(log);
  if (off === undefined) return undefined;
  return (off.endedAt ?? off.at + FencingNumbers.commandLimit) + POWER_QUARANTINE_MS;
}

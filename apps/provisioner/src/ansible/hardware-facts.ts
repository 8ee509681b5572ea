import type { HardwareFacts } from '#contracts';

const FIELDS = ['systemUuid', 'bmcGuid', 'boardSerial', 'chassisSerial'] as const;
const MOST_CHARS = 128;

/** What a host told as `hardware`; undefined where it told nothing of it. Whether it can tell machines apart is decided by who compares it. */
export function readHardware(x: unknown): Omit<HardwareFacts, 'at'> | undefined {
  if (typeof x !== 'object' || x === null) return undefined;
  const told = FIELDS.flatMap((field) => {
    const value: unknown = (x as Record<string, unknown>)[field];
    return typeof value === 'string' && value !== '' && value.length <= MOST_CHARS ? [[field, value]] : [];
  });
  return told.length === 0 ? undefined : (Object.fromEntries(told) as Omit<HardwareFacts, 'at'>);
}

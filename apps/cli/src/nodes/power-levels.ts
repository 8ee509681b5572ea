import type { PowerDevice, PowerDeviceRequest } from '#contracts';
import { Failure } from '../failure/failure.js';

/** What a command says of a device; what it does not say stays. */
export type DeviceChange = Partial<Omit<PowerDeviceRequest, 'id'>> & { level?: number };

/** As an edit wants them: no device names the place of its stored password, and keeps it all the same. */
const asRequest = ({ secret: _secret, ...device }: PowerDevice): PowerDeviceRequest => device;

const levelsOf = (levels: PowerDevice[][]): PowerDeviceRequest[][] => levels.map((level) => level.map(asRequest));

const named = (levels: PowerDevice[][]): string =>
  levels.map((level, i) => `${i + 1}: ${level.map((d) => d.id).join(' and ')}`).join('; ');

/** Level numbers begin with 1. The next level after the last may be named too. @throws Failure */
function at(levels: PowerDeviceRequest[][], level: number): PowerDeviceRequest[] {
  if (level > levels.length + 1) throw new Failure(`--level ${level}: the next free level is ${levels.length + 1}`);
  return (levels[level - 1] ??= []);
}

/**
 * Where a node already has devices the level must be said: in the same one, all must be off for the node to count as
 * off; a further one is tried where those before it have failed.
 * @throws Failure
 */
export function withDevice(
  now: PowerDevice[][],
  id: string,
  { level, ...device }: DeviceChange & Pick<PowerDeviceRequest, 'driver' | 'address'>,
): PowerDeviceRequest[][] {
  if (now.flat().some((d) => d.id === id))
    throw new Failure(`it already has a power device "${id}" (power-device set)`);
  if (level === undefined && now.length > 0)
    throw new Failure(
      `it has devices (${named(now)}): say --level 1 for one that must be off as well, or --level ${now.length + 1} for one to try where they fail`,
    );
  const levels = levelsOf(now);
  at(levels, level ?? 1).push({ id, ...device });
  return levels;
}

/** @throws Failure */
export function changedDevice(
  now: PowerDevice[][],
  id: string,
  { level, options, ...change }: DeviceChange,
): PowerDeviceRequest[][] {
  const known = find(now, id);
  const merged = { ...known.options, ...options };
  const changed: PowerDeviceRequest = {
    ...asRequest(known),
    ...change,
    ...(Object.keys(merged).length > 0 && { options: merged }),
  };
  if (level === undefined) return levelsOf(now).map((all) => all.map((d) => (d.id === id ? changed : d)));
  const levels = levelsOf(now).map((all) => all.filter((d) => d.id !== id));
  at(levels, level).push(changed);
  return levels.filter((all) => all.length > 0);
}

/** @throws Failure */
export function withoutDevice(now: PowerDevice[][], id: string): PowerDeviceRequest[][] {
  find(now, id);
  return levelsOf(now)
    .map((level) => level.filter((d) => d.id !== id))
    .filter((level) => level.length > 0);
}

function find(levels: PowerDevice[][], id: string): PowerDevice {
  const device = levels.flat().find((d) => d.id === id);
  if (device === undefined)
    throw new Failure(`no power device "${id}"; ${levels.length === 0 ? 'it has none' : `it has ${named(levels)}`}`);
  return device;
}

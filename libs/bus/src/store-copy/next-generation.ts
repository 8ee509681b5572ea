import { generationFloor, MusterError } from '#contracts';

/** Tokens have to stay whole numbers with room above them. */
const HIGHEST_FLOOR = 2 ** 52;

/**
 * The generation of a store that is loaded from a copy: unix time in s, so that it is above all earlier ones, also those
 * that nobody here remembers. A clock that is behind is outvoted by what is known.
 * @param o.copied the last write that the copy has, ms
 * @param o.known generations that the copy and this installation remember
 * @throws MusterError CONFIG_INVALID: what is known, or the clock, is far in the future
 */
export function nextGeneration(o: { known: readonly number[]; copied: number; wallMs: number }): number {
  const times = [o.wallMs, o.copied].map((ms) => Math.floor(ms / 1000));
  const generation = Math.max(...times, ...o.known.map((known) => known + 1));
  if (!(generationFloor(generation) < HIGHEST_FLOOR))
    throw new MusterError(
      'CONFIG_INVALID',
      `the store would get generation ${generation}, and there is no room above it: set the clock of this machine right; ` +
        'where that is right, the file store-generation or the copy is not what Muster has written',
    );
  return generation;
}

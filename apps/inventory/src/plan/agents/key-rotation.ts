import { MusterError, type DatagramKeySet, type KeyLaggard } from '#contracts';

/** Whose datagrams others must be able to prove: a node with an agent, or the active detector. */
export interface KeyHolder extends KeyLaggard {
  /** It was found without power, so it proves nothing until it is back, and it asks for the keys then. */
  off: boolean;
}

/**
 * Who is in the way of the next step, or after the last one has other keys. In `spread` everybody must accept the new
 * key before anybody signs with it; in `sign` everybody must sign with it before anybody refuses the old one. One of
 * which nothing is known may be alive and cut off from here only: it counts as being in the way.
 */
export function laggards(set: DatagramKeySet, holders: readonly KeyHolder[]): KeyHolder[] {
  return holders.filter((h) => isWaitedFor(set, h) && !isReady(set, h.keys ?? []));
}

/** Nobody is passed over that is heard. */
const isWaitedFor = (set: DatagramKeySet, h: KeyHolder): boolean =>
  h.heard || !(h.off || (set.without ?? []).includes(h.name));

function isReady({ phase, keys }: DatagramKeySet, has: readonly string[]): boolean {
  const [first, second] = keys as [string, string];
  switch (phase) {
    case 'spread':
      return has.includes(second);
    case 'sign':
      return has[0] === first;
    case 'done':
      return has.length === 1 && has[0] === first;
  }
}

/** What follows the set as it is; undefined: it is not safe yet, or there is nothing left to do. */
export function nextKeySet(
  set: DatagramKeySet,
  holders: readonly KeyHolder[],
  now: number,
): DatagramKeySet | undefined {
  if (set.phase === 'done' || laggards(set, holders).length > 0) return undefined;
  const [first, second] = set.keys as [string, string];
  const { without: _passed, ...rest } = set;
  const next = { ...rest, version: versionAfter(set.version, now), changedAt: now };
  return set.phase === 'spread'
    ? { ...next, ...(set.without && { without: set.without }), phase: 'sign', keys: [second, first] }
    : { ...next, phase: 'done', keys: [first], retired: second };
}

/** Of the exchange of `old` for `fresh`. */
export const firstKeySet = (
  previous: DatagramKeySet | undefined,
  o: { old: string; fresh: string; by: string },
  now: number,
): DatagramKeySet => ({
  version: versionAfter(previous?.version ?? 0, now),
  phase: 'spread',
  keys: [o.old, o.fresh],
  // Its secret is still to be destroyed.
  ...(previous?.retired !== undefined && { retired: previous.retired }),
  by: o.by,
  startedAt: now,
  changedAt: now,
});

/**
 * The set, where those that are in the way and that nobody hears are not waited for.
 * @throws MusterError ILLEGAL_TRANSITION while no exchange is under way; STILL_ALIVE where there is none such
 */
export function passedOver(set: DatagramKeySet | undefined, holders: readonly KeyHolder[]): DatagramKeySet {
  if (set === undefined || set.phase === 'done')
    throw new MusterError('ILLEGAL_TRANSITION', 'no exchange of the key is under way');
  const waiting = laggards(set, holders);
  const nodes = waiting.map((h) => h.name);
  const absent = waiting.filter((h) => !h.heard).map((h) => h.name);
  if (absent.length === 0)
    throw new MusterError(
      'STILL_ALIVE',
      waiting.length === 0
        ? 'the exchange of the key waits for nobody'
        : `those that it waits for may be alive, and nobody would hear them any more: ${nodes.join(', ')}`,
      { nodes },
    );
  return { ...set, without: [...new Set([...(set.without ?? []), ...absent])].sort() };
}

/** Agents take none that is lower: also one that a lost store begins with is to be higher. */
const versionAfter = (version: number, now: number): number => Math.max(version + 1, Math.floor(now));

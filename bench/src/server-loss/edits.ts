import { MusterError } from '#contracts';

/** One record that was created; no two have the same key. Times are monotonic, ms. */
export interface Edit {
  bucket: string;
  key: string;
  beganMs: number;
  endedMs: number;
  /** Revision that was acknowledged; absent: it was not. */
  revision?: number;
  /** Code of the failure. */
  refused?: string;
}

/** One that is stored, with its key. */
export interface Stored {
  key: string;
  revision: number;
}

/** Creates it and notes how that went; whatever is thrown is an outcome. */
export async function edit(
  bucket: string,
  key: string,
  create: () => Promise<number>,
  now: () => number,
): Promise<Edit> {
  const beganMs = now();
  try {
    const revision = await create();
    return { bucket, key, beganMs, endedMs: now(), revision };
  } catch (e) {
    return { bucket, key, beganMs, endedMs: now(), refused: MusterError.from(e).code };
  }
}

/**
 * The longest time for which one writer waited until something of its own was acknowledged, ms: from the start of the
 * first edit that was not until the end of the next that was. Infinite where none followed.
 * @param edits of one writer, in their order
 */
export function longestWaitMs(edits: readonly Edit[]): number {
  let longest = 0;
  let since: number | undefined;
  for (const { beganMs, endedMs, revision } of edits) {
    since ??= beganMs;
    if (revision === undefined) continue;
    longest = Math.max(longest, endedMs - since);
    since = undefined;
  }
  return since === undefined ? longest : Infinity;
}

/** What was acknowledged and is not there, or not as it was acknowledged. */
export function lostEdits(edits: readonly Edit[], stored: readonly Stored[]): Edit[] {
  const there = new Map(stored.map((s) => [s.key, s.revision]));
  return edits.filter((e) => e.revision !== undefined && there.get(e.key) !== e.revision);
}

/** Told that another was faster, where nobody else writes: its own earlier try was taken for another's. */
export const wronglyRefused = (edits: readonly Edit[]): Edit[] =>
  edits.filter((e) => e.refused === 'REVISION_CONFLICT');

/** Given up: whether it is stored is not known. */
export const givenUp = (edits: readonly Edit[]): Edit[] =>
  edits.filter((e) => e.refused !== undefined && e.refused !== 'REVISION_CONFLICT');

import type { Entry } from '#bus';
import type { Table } from './inventory-store.js';

/** A view that is further behind than this, ms, is not waited for: its bucket is then read. */
export const BEHIND_MS = 500;

/**
 * All of a bucket, for decisions that rest on something not being there: whatever was written before now is in it. Any
 * replica may have written that, and the view shows it only a moment later.
 */
export const entriesNow = async <T>(all: Table<T>): Promise<readonly Entry<T>[]> =>
  (await entriesBehind(all)) ?? all.view.entries();

/** Waits until the view shows all that was written before now. @returns the bucket, where the view stays behind */
export async function entriesBehind<T>({ bucket, view }: Table<T>): Promise<readonly Entry<T>[] | undefined> {
  const end = await bucket.lastRevision(view.revision);
  return (await view.shows(end, BEHIND_MS)) ? undefined : bucket.list();
}

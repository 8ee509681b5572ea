import type { Entry } from '#bus';
import { unreadable } from '#contracts';
import type { Table } from './inventory-store.js';

/** A view that is further behind than this, ms, is not waited for: its bucket is then read. */
export const BEHIND_MS = 500;

/**
 * All of a bucket, for decisions that rest on something not being there: whatever was written before now is in it. Any
 * replica may have written that, and the view shows it only a moment later.
 * @throws RECORD_UNREADABLE where a record of the bucket cannot be read: it might be the one that is there
 */
export const entriesNow = async <T>(all: Table<T>): Promise<readonly Entry<T>[]> =>
  (await entriesBehind(all)) ?? all.view.entries();

/** Waits until the view shows all that was written before now. @returns the bucket, where the view stays behind */
export async function entriesBehind<T>(of: Table<T>): Promise<readonly Entry<T>[] | undefined> {
  const all = (await showsNow(of)) ? undefined : await of.bucket.list();
  const [left] = of.view.unreadable.values();
  if (left !== undefined) throw unreadable(left);
  return all;
}

/** Waits until the view shows all that was written before now. @returns false where it stays behind, or has a gap */
export const showsNow = async <T>({ bucket, view }: Table<T>): Promise<boolean> =>
  view.shows(await bucket.lastRevision(view.revision), BEHIND_MS);

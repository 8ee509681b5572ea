/** Key of bucket `settings`: when each bucket was made, as it is known to be right. */
export const BUCKET_BIRTHS_KEY = 'bucket-births';
export interface BucketBirths {
  /** ISO times by bucket. */
  created: Record<string, string>;
}

/**
 * What is known to be right after a store was loaded into another NATS, where every bucket was made just now: one that
 * was right where it came from is right. One that was not is left, and goes on being told of.
 * @param kept as it was known there; undefined: nobody had looked
 * @param saved when each bucket was made there
 * @param loaded when each was made here
 */
export function carriedBirths(
  kept: BucketBirths | undefined,
  saved: ReadonlyMap<string, Date>,
  loaded: ReadonlyMap<string, Date | undefined>,
): BucketBirths | undefined {
  if (kept === undefined) return undefined;
  const created = Object.entries(kept.created).map(([bucket, at]): [string, string] => [
    bucket,
    saved.get(bucket)?.toISOString() === at ? (loaded.get(bucket)?.toISOString() ?? at) : at,
  ]);
  return { created: Object.fromEntries(created) };
}

import { MusterError, type BucketName } from '#contracts';
import type { Bus } from '#bus';

/** The last revision of each bucket at one moment. ISO: when the bucket was made. */
export interface StoreMark {
  /** Wall clock, ms. */
  at: number;
  /** Of the store then: a later one is known to be of another moment. */
  generation: number;
  buckets: Record<string, { created: string; lastSeq: number }>;
}

/** Between two marks, ms. */
export const MARK_EVERY_MS = 60_000;
/**
 * A server that loses its power may come back without what it had acknowledged last, ms: up to two minutes of it where it
 * does not write at once. What lacks more was put back.
 */
const LOST_TAIL_MS = 300_000;

/** The store as it is. */
export interface StoreNow {
  buckets: Awaited<ReturnType<Bus['bucketFacts']>>;
  generation: number;
}

/** @throws SyntaxError, MusterError BAD_REQUEST: these are no marks */
export function readMarks(text: string): readonly StoreMark[] {
  const marks = JSON.parse(text) as unknown;
  const isMark = (m: Partial<StoreMark> | null): boolean =>
    typeof m?.at === 'number' &&
    typeof m.generation === 'number' &&
    typeof m.buckets === 'object' &&
    m.buckets !== null;
  if (!Array.isArray(marks) || !marks.every(isMark))
    throw new MusterError('BAD_REQUEST', 'these are no marks of a store');
  return marks as readonly StoreMark[];
}

/** With a mark of now, where the last one is old enough. Those that {@link putBack} needs no more are gone. */
export function withMark(marks: readonly StoreMark[], store: StoreNow, at: number): readonly StoreMark[] {
  const last = marks.at(-1);
  if (last !== undefined && at - last.at < MARK_EVERY_MS && at >= last.at) return marks;
  const all = [...marks.filter((m) => m.at < at), markOf(store, at)];
  const oldest = all.findLastIndex((m) => at - m.at >= LOST_TAIL_MS);
  return all.slice(Math.max(0, oldest));
}

export function markOf(store: StoreNow, at: number): StoreMark {
  const buckets: StoreMark['buckets'] = {};
  for (const [bucket, f] of store.buckets)
    if (f !== undefined) buckets[bucket] = { created: f.created.toISOString(), lastSeq: f.lastSeq };
  return { at, generation: store.generation, buckets };
}

/** A bucket that ends before a revision that it had. */
export interface PutBack {
  bucket: BucketName;
  /** It had this one, `at` the latest (wall clock, ms). */
  seen: number;
  at: number;
  ends: number;
}

/**
 * A bucket that is the same as it was, and lacks what it had minutes before it was seen last: its files are older ones.
 * One that was made anew, and a store that was loaded, are told of elsewhere. Undefined: there is none, or too little is
 * remembered.
 */
export function putBack(marks: readonly StoreMark[], store: StoreNow): PutBack | undefined {
  const last = marks.at(-1);
  const solid = last && marks.findLast((m) => last.at - m.at >= LOST_TAIL_MS);
  if (solid === undefined || store.generation > solid.generation) return undefined;
  for (const [bucket, f] of store.buckets) {
    const was = solid.buckets[bucket];
    if (f !== undefined && was?.created === f.created.toISOString() && f.lastSeq < was.lastSeq)
      return { bucket, seen: was.lastSeq, at: solid.at, ends: f.lastSeq };
  }
  return undefined;
}

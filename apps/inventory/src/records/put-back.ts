import { MusterError, type BucketName } from '#contracts';
import type { Bus } from '#bus';

/** The last revision of each bucket at one moment. */
export interface StoreMark {
  /** Wall clock, ms: for people alone, since it may be set. */
  at: number;
  /** How long the store had been watched by then, whole ms, by the monotonic clocks of all processes that kept this file. */
  watchedMs: number;
  generation: number;
  /** ISO: when the bucket was made. */
  buckets: Record<string, { created: string; lastSeq: number }>;
}

/** A store is known by its bucket `settings`, which holds the generation: a load makes it anew. */
export interface KnownStore {
  /** ISO: when that bucket was made. */
  born: string;
  generation: number;
  /** When this generation was seen first: wall clock, ms. */
  at: number;
}

/** What one inventory remembers of the store, outside of it. */
export interface SeenStore {
  /** Of the generation that was seen last; the oldest first. */
  marks: readonly StoreMark[];
  /** Each store at the place where it was seen last; the present one is the last. */
  stores: readonly KnownStore[];
}

/** The store as it is. */
export interface StoreNow {
  buckets: Awaited<ReturnType<Bus['bucketFacts']>>;
  /** 0: it was never loaded. */
  generation: number;
}

/** A store that lacks what it had at `at` (wall clock, ms) the latest. */
export type PutBack =
  | { by: 'revision'; at: number; bucket: BucketName; seen: number; ends: number }
  | { by: 'generation'; at: number; seen: number; ends: number };

export interface SeenDecision {
  /** To be remembered from now on; what was given where there is nothing new. */
  seen: SeenStore;
  /** It stands until the store has a generation that is higher. */
  found?: PutBack;
  /** Buckets without their newest revisions: too few to tell them from a tail that was lost with the power. */
  lost: { bucket: BucketName; seen: number; ends: number }[];
}

/** Between two marks, ms. */
export const MARK_EVERY_MS = 60_000;
/**
 * A server that loses its power may come back without what it had acknowledged last, ms: nats-server syncs its files every
 * two minutes by default, and the disk adds its own. What lacks more was put back.
 */
export const LOST_TAIL_MS = 300_000;
/** Stores that are remembered: one is added by each load. */
const MOST_STORES = 16;

export const nothingSeen: SeenStore = { marks: [], stores: [] };

/**
 * Whether the files of the store are older ones, and what is remembered of it now. It is put back where
 *
 * - its generation is below one that was seen in it, or in one that was seen after it, or
 * - a bucket that is the same lacks what it had five minutes of watching before it was seen last.
 *
 * All else is none: a tail that was lost with the power (what was remembered of it is forgotten, so that it is not found
 * later), a bucket or a store that was made anew, a store that was never seen, one of a later generation.
 */
export function decideSeen(seen: SeenStore, store: StoreNow, now: { at: number; watchedMs: number }): SeenDecision {
  const born = store.buckets.get('settings')?.created.toISOString();
  // Its generation stood in there.
  if (born === undefined) return { seen, lost: [] };
  const found = lowerGeneration(seen.stores, born, store.generation) ?? lowerRevision(seen.marks, store);
  if (found !== undefined) return { seen, found, lost: [] };

  const before = seen.marks.filter((m) => m.generation === store.generation);
  const lost = lostTails(before.at(-1), store);
  const marks = withMark(lost.length > 0 ? before.map((m) => without(m, lost)) : before, store, now);
  const last = seen.stores.at(-1);
  const isSame = last?.born === born && last.generation === store.generation;
  if (isSame && marks.at(-1) === seen.marks.at(-1)) return { seen, lost };
  const others = seen.stores.filter((s) => s.born !== born);
  const stores = isSame ? seen.stores : [...others, { born, generation: store.generation, at: now.at }];
  return { seen: { marks, stores: stores.slice(-MOST_STORES) }, lost };
}

function lowerGeneration(stores: readonly KnownStore[], born: string, generation: number): PutBack | undefined {
  const first = stores.findIndex((s) => s.born === born);
  // Of another installation, or made since: nothing is known of it.
  if (first < 0) return undefined;
  const later = stores.slice(first).find((s) => s.generation > generation);
  return later && { by: 'generation', at: later.at, seen: later.generation, ends: generation };
}

function lowerRevision(marks: readonly StoreMark[], store: StoreNow): PutBack | undefined {
  const last = marks.at(-1);
  const solid = last && marks.findLast((m) => last.watchedMs - m.watchedMs >= LOST_TAIL_MS);
  if (solid === undefined || store.generation > solid.generation) return undefined;
  const [behind] = lostTails(solid, store);
  return behind && { by: 'revision', at: solid.at, ...behind };
}

/** Buckets that are the same as then, and end before they did. */
function lostTails(mark: StoreMark | undefined, store: StoreNow): SeenDecision['lost'] {
  const lost: SeenDecision['lost'] = [];
  for (const [bucket, f] of store.buckets) {
    const was = mark?.buckets[bucket];
    if (f !== undefined && was?.created === f.created.toISOString() && f.lastSeq < was.lastSeq)
      lost.push({ bucket, seen: was.lastSeq, ends: f.lastSeq });
  }
  return lost;
}

/** As if it had never been there: a quiet bucket would still end before it when the mark is minutes old. */
function without(mark: StoreMark, lost: SeenDecision['lost']): StoreMark {
  const buckets = { ...mark.buckets };
  for (const { bucket, ends } of lost) {
    const was = buckets[bucket];
    if (was !== undefined) buckets[bucket] = { ...was, lastSeq: Math.min(was.lastSeq, ends) };
  }
  return { ...mark, buckets };
}

/** With one of now, where the last one is old enough. Those that {@link lowerRevision} needs no more are gone. */
function withMark(
  marks: readonly StoreMark[],
  store: StoreNow,
  { at, watchedMs }: { at: number; watchedMs: number },
): readonly StoreMark[] {
  const last = marks.at(-1);
  if (last !== undefined && watchedMs - last.watchedMs < MARK_EVERY_MS) return marks;
  const buckets: StoreMark['buckets'] = {};
  for (const [bucket, f] of store.buckets)
    if (f !== undefined) buckets[bucket] = { created: f.created.toISOString(), lastSeq: f.lastSeq };
  const all = [...marks, { at, watchedMs, generation: store.generation, buckets }];
  const oldest = all.findLastIndex((m) => watchedMs - m.watchedMs >= LOST_TAIL_MS);
  return all.slice(Math.max(0, oldest));
}

/** What stands in the file. A folder that comes from another cluster says nothing about this one. */
export const writtenSeen = (cluster: string, seen: SeenStore): string => JSON.stringify({ cluster, ...seen });

/** @throws SyntaxError, MusterError BAD_REQUEST: this is nothing that an inventory of this cluster has seen */
export function readSeen(cluster: string, text: string): SeenStore {
  const read = JSON.parse(text) as (Partial<SeenStore> & { cluster?: unknown }) | null;
  if (typeof read !== 'object' || read === null || !areAll(read.marks, isMark) || !areAll(read.stores, isStore))
    throw new MusterError('BAD_REQUEST', 'it does not say what was seen of a store');
  if (read.cluster !== cluster)
    throw new MusterError('BAD_REQUEST', `it is of the cluster ${String(read.cluster)}, and this one is ${cluster}`);
  return { marks: read.marks, stores: read.stores };
}

const areAll = <T>(list: unknown, is: (one: Partial<T> | null) => boolean): list is readonly T[] =>
  Array.isArray(list) && list.every((one) => is(one as Partial<T> | null));

const isCount = (n: unknown): boolean => Number.isSafeInteger(n) && (n as number) >= 0;
const isDate = (ms: unknown): boolean => typeof ms === 'number' && !Number.isNaN(new Date(ms).getTime());

const isMark = (m: Partial<StoreMark> | null): boolean =>
  isDate(m?.at) &&
  isCount(m?.watchedMs) &&
  isCount(m?.generation) &&
  typeof m?.buckets === 'object' &&
  m.buckets !== null &&
  Object.values(m.buckets as Record<string, Partial<StoreMark['buckets'][string]> | null>).every(
    (b) => typeof b?.created === 'string' && isCount(b.lastSeq),
  );

const isStore = (s: Partial<KnownStore> | null): boolean =>
  typeof s?.born === 'string' && isCount(s.generation) && isDate(s.at);

import { Buckets, MusterError, ReadyStream, Streams, type BucketName, type StreamFacts } from '#contracts';
import { bucketStream } from '../store-names/kv-keys.js';
import type { Link } from '../ports/link.js';
import { ApiErrors, apiError, isPassing, isStreamMissing } from '../ports/log-failure.js';
import type { StreamConfig } from '../ports/message-log.js';
import { store } from './store.js';
import { whilePassing } from './while-passing.js';

const day = 86_400 * 1_000_000_000;
const MiB = 1024 * 1024;
/** Between two questions for a stream that no server answers for, ms. */
const AGAIN_MS = 250;

type Wanted = Pick<
  StreamConfig,
  | 'name'
  | 'subjects'
  | 'max_msgs_per_subject'
  | 'max_bytes'
  | 'max_age'
  | 'allow_direct'
  | 'num_replicas'
  | 'deny_delete'
>;

interface BucketOptions {
  /** Of each key. @default 1 */
  revisions?: number;
  /** A value that is older is gone, ns. @default never */
  maxAge?: number;
}

const bucketOptions: Partial<Record<BucketName, BucketOptions>> = {
  // An incident's earlier revisions are what an audit rests on: which command was intended when, and by which epoch,
  // also of incidents that a later one of the same node has replaced. 64 is the most that a KV bucket keeps.
  incidents: { revisions: 64 },
  idempotency: { maxAge: day },
};

/** Where the disk is small, logs and events are given so much of it, and no less than some of them, bytes. */
const partOf = (diskBytes: number | undefined, part: number, most: number, least: number): number =>
  diskBytes === undefined ? most : Math.max(least, Math.min(most, Math.floor(diskBytes * part)));

/**
 * Streams and buckets as they must be.
 * @param diskBytes size of the disk that they will be on; absent: not known, large enough
 */
export function wantedStreams(replicas: number, diskBytes?: number): Wanted[] {
  const log = (name: string, subjects: readonly string[], maxAge: number, maxBytes: number): Wanted => ({
    name,
    subjects: [...subjects],
    max_msgs_per_subject: -1,
    max_bytes: maxBytes,
    max_age: maxAge,
    allow_direct: false,
    num_replicas: replicas,
    deny_delete: false,
  });
  return [
    // Half of it is for verdicts, which inventory thins out: room for a day of 1,000 nodes that each change 100 times.
    log(Streams.events.name, Streams.events.subjects, 30 * day, partOf(diskBytes, 1 / 4, 1024 * MiB, 16 * MiB)),
    log(Streams.logs.name, Streams.logs.subjects, 30 * day, partOf(diskBytes, 1 / 8, 512 * MiB, 8 * MiB)),
    ...Buckets.map((bucket): Wanted => ({
      name: bucketStream(bucket),
      subjects: [`$KV.${bucket}.>`],
      max_msgs_per_subject: bucketOptions[bucket]?.revisions ?? 1,
      max_bytes: -1,
      max_age: bucketOptions[bucket]?.maxAge ?? 0,
      // Direct get answers from any replica: 50 of 3,000 reads of one's own write were stale.
      allow_direct: false,
      num_replicas: replicas,
      deny_delete: true,
    })),
    log(ReadyStream.name, ReadyStream.subjects, 0, MiB),
  ];
}

/** What must agree with a stream that is there already; the rest may be tuned by its operator. */
const binding = ['subjects', 'max_msgs_per_subject', 'allow_direct', 'num_replicas', 'storage'] as const;

export interface StorageOptions {
  /** Of each stream. @default 1 */
  replicas?: number;
  /** @default all, and the streams that are no buckets */
  only?: readonly BucketName[];
  /** Size of the store's disk, which the limits of those that are made fit; absent: not known. */
  diskBytes?: number | undefined;
  /** How long all streams together are waited for where no server answers for one, ms. @default 0: one question each */
  waitMs?: number;
}

/**
 * Creates what is missing. CONFIG_INVALID where something exists under the name with another shape: it is never
 * changed, and never made anew, since revisions would start again at 1 and with them the fencing tokens.
 * BUS_UNAVAILABLE where no server answers for one in time.
 */
export async function createStorage(link: Link, o: StorageOptions): Promise<void> {
  const { replicas = 1, only, diskBytes, waitMs = 0 } = o;
  const deadline = link.clock.monotonicMs() + waitMs;
  const names = only?.map(bucketStream);
  for (const wanted of wantedStreams(replicas, diskBytes).filter((w) => names?.includes(w.name) ?? true)) {
    const full = {
      ...wanted,
      storage: 'file' as StreamConfig['storage'],
      retention: 'limits' as StreamConfig['retention'],
      discard: (wanted.name.startsWith('KV_') ? 'new' : 'old') as StreamConfig['discard'],
      duplicate_window: 120 * 1_000_000_000,
    };
    const found = await whenLed(link, wanted.name, { waitMs, deadline }, async () => {
      const there = await existing(link, wanted.name);
      // Another replica may be creating it right now: it is whole once it answers a write.
      if (there !== undefined) await answersWrites(link, wanted);
      return there ?? (await create(link, full));
    });
    for (const field of binding) {
      const is = JSON.stringify(found[field] ?? false);
      const must = JSON.stringify(full[field] ?? false);
      if (is !== must)
        throw new MusterError(
          'CONFIG_INVALID',
          `stream ${wanted.name} exists with ${field} ${is} instead of ${must}: move it away or correct it`,
        );
    }
  }
}

/** Again while no server answers for the stream: a cluster that elects a leader, or has too few servers for one. */
async function whenLed<R>(
  link: Link,
  stream: string,
  o: { waitMs: number; deadline: number },
  work: () => Promise<R>,
): Promise<R> {
  if (o.waitMs === 0) return work();
  const why = (e: unknown): string => MusterError.from(e).message;
  const needed = (e: unknown): string =>
    MusterError.from(e).facts['errCode'] === ApiErrors.noPeers
      ? 'to be made it needs all NATS servers that are to hold it'
      : 'a majority of its NATS servers must run';
  let told = false;
  const failed = (e: unknown): void => {
    if (!told) link.log.warn({ stream, reason: why(e) }, 'waits for a stream that no server answers for');
    told = true;
  };
  try {
    return await whilePassing(link, { deadline: o.deadline, everyMs: AGAIN_MS, failed }, work);
  } catch (e) {
    if (!isPassing(e) || link.closed) throw e;
    throw new MusterError(
      'BUS_UNAVAILABLE',
      `stream ${stream} was waited for for ${o.waitMs / 1000} s: ${needed(e)} (${why(e)})`,
      { stream },
      { cause: e },
    );
  }
}

/** A write that must be refused, since no sequence is that high: the refusal comes from the stream itself. */
async function answersWrites(link: Link, wanted: Wanted): Promise<void> {
  const subject = wanted.subjects[0]?.replace('>', '=') ?? '';
  const answer = await store(link, subject, '', { expect: Number.MAX_SAFE_INTEGER });
  if (!('conflict' in answer)) throw new MusterError('INTERNAL', `${wanted.name} stored what it had to refuse`);
}

async function existing(link: Link, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await link.messages.info(name)).config;
  } catch (e) {
    if (isStreamMissing(e)) return undefined;
    throw apiError(e, name);
  }
}

/** Several replicas of inventory start at once: creating what was just created in the same shape succeeds. */
async function create(link: Link, config: Partial<StreamConfig> & { name: string }): Promise<StreamConfig> {
  try {
    return await link.messages.createStream(config);
  } catch (e) {
    const there = await existing(link, config.name);
    if (there) return there;
    throw apiError(e, config.name);
  }
}

/** Whether the server knows the stream. Rejects where its store does not answer. */
export async function hasStream(link: Link, name: string): Promise<boolean> {
  try {
    await link.messages.info(name);
    return true;
  } catch (e) {
    if (isStreamMissing(e)) return false;
    throw apiError(e, name);
  }
}

/** When a bucket was made, and the last revision in it. */
export interface BucketFacts {
  created: Date;
  lastSeq: number;
}

/** Of each bucket; undefined: it is not there. */
export async function bucketFacts(link: Link): Promise<Map<BucketName, BucketFacts | undefined>> {
  const facts = new Map<BucketName, BucketFacts | undefined>();
  for (const bucket of Buckets)
    try {
      const { created, lastSeq } = await link.messages.info(bucketStream(bucket));
      facts.set(bucket, { created, lastSeq });
    } catch (e) {
      if (!isStreamMissing(e)) throw apiError(e, bucket);
      facts.set(bucket, undefined);
    }
  return facts;
}

/** Where the copies of each stream are. Rejects where the store does not answer, or one of them is not there. */
export function streamFacts(link: Link): Promise<StreamFacts[]> {
  return Promise.all(
    wantedStreams(1).map(async ({ name }): Promise<StreamFacts> => {
      try {
        const { config, cluster } = await link.messages.info(name);
        const behind = (cluster?.replicas ?? []).filter((r) => !r.current).map((r) => r.name);
        return {
          name,
          replicas: config.num_replicas,
          ...(behind.length > 0 && { behind: behind.sort() }),
          ...(cluster !== undefined && cluster.leader === undefined && { leaderless: true }),
        };
      } catch (e) {
        throw apiError(e, name);
      }
    }),
  );
}

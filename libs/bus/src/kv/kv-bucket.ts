import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamInfo } from '@nats-io/jetstream';
import { MusterError, type BucketName } from '#contracts';
import { api, apiError, hasMessageFrom, lastMessage, store, type StoredMessage } from '../nats/jetstream-api.js';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import { isPassing } from '../nats/failures.js';
import { bucketStream, isMarker, subjectOf } from './kv-keys.js';
import { KvView } from './kv-view.js';
import { KvWatch, type WatchOptions } from './kv-watch.js';
import type { Link } from '../nats/link.js';
import type { Entry, Watch } from '../types.js';

/** How long an operation waits for a bucket that inventory has not created yet, ms. */
const BUCKET_WAIT_MS = 30_000;

export interface WriteOptions {
  /** In all, over every try. @default 5000 */
  timeoutMs?: number;
}

/**
 * One bucket of records, JSON. Every write is a compare-and-set; nothing is ever decided from a read, since a read may
 * be old by the time it is used. Each write carries a nonce: one whose acknowledgement was lost is asked for again, and
 * read back, instead of being taken for a defeat. After TIMEOUT or BUS_UNAVAILABLE it may have been written or not.
 */
export class KvBucket<T> {
  private exists = false;

  constructor(
    private readonly link: Link,
    readonly name: BucketName,
  ) {}

  /** The current value; a deleted one is undefined. */
  async get(key: string): Promise<Entry<T> | undefined> {
    const m = await this.last(key);
    return m && !isMarker(m.headers['KV-Operation']) ? this.entry(key, m) : undefined;
  }

  /**
   * Of the last write of any key, deletions too; 0: none yet.
   * @param known one that was seen: where nothing was written since, the server has far less to do
   */
  async lastRevision(known = 0): Promise<number> {
    const stream = bucketStream(this.name);
    if (known > 0 && !(await this.patiently(() => hasMessageFrom(this.link, stream, known + 1)))) return known;
    const info = await this.patiently(() => api<StreamInfo>(this.link, `STREAM.INFO.${stream}`));
    return info.state.last_seq;
  }

  /** Revision of the new value. REVISION_CONFLICT where the key has a value. */
  async create(key: string, value: T, o: WriteOptions = {}): Promise<number> {
    const first = await this.write(key, JSON.stringify(value), 0, o);
    if (first !== undefined) return first;
    const there = await this.last(key);
    if (there && isMarker(there.headers['KV-Operation'])) {
      const again = await this.write(key, JSON.stringify(value), there.seq, o);
      if (again !== undefined) return again;
    }
    throw this.conflict(key, 'it exists');
  }

  /** Revision of the new value. REVISION_CONFLICT where `revision` is no longer the current one. */
  async update(key: string, value: T, revision: number, o: WriteOptions = {}): Promise<number> {
    const written = await this.write(key, JSON.stringify(value), revision, o);
    if (written === undefined) throw this.conflict(key, `revision ${revision} is no longer current`);
    return written;
  }

  /**
   * Read, decide, compare-and-set; again with jitter when another was faster. `fn` may run several times and must
   * depend on nothing but its argument; it returns undefined, or an equal value, to leave the key alone, and may throw
   * to refuse.
   */
  async mutate(
    key: string,
    fn: (current: Entry<T> | undefined) => T | undefined | Promise<T | undefined>,
  ): Promise<{ value: T | undefined; revision: number; changed: boolean }> {
    const deadline = performance.now() + 10_000;
    for (let tries = 1; ; tries++) {
      const current = await this.get(key);
      const before = current && JSON.stringify(current.value);
      const next = await fn(current);
      if (next === undefined || JSON.stringify(next) === before)
        return { value: current?.value, revision: current?.revision ?? 0, changed: false };
      try {
        const revision = current ? await this.update(key, next, current.revision) : await this.create(key, next);
        return { value: next, revision, changed: true };
      } catch (e) {
        if (!(e instanceof MusterError) || e.code !== 'REVISION_CONFLICT' || performance.now() >= deadline) throw e;
        await pause(Math.random() * Math.min(100, 5 * 2 ** tries));
      }
    }
  }

  /** Leaves a marker that watchers see. With a revision: REVISION_CONFLICT where it is no longer the current one. */
  async delete(key: string, revision?: number): Promise<void> {
    const written = await this.write(key, '', revision, {}, [['KV-Operation', 'DEL']]);
    if (written === undefined) throw this.conflict(key, `revision ${revision} is no longer current`);
  }

  /** Every value, as of one moment at or after the call. */
  async list(): Promise<Entry<T>[]> {
    const found = new Map<string, Entry<T>>();
    let watch: Watch | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(
          () => reject(new MusterError('TIMEOUT', `bucket ${this.name} could not be listed in time`)),
          this.exists ? 5000 : BUCKET_WAIT_MS,
        );
        watch = this.watch({
          onChange: (key, value, revision) => {
            if (value === undefined) found.delete(key);
            else found.set(key, { key, value, revision });
          },
          onLive: resolve,
        });
      });
    } finally {
      clearTimeout(timer);
      await watch?.close();
    }
    this.exists = true;
    return [...found.values()];
  }

  /**
   * Every value, then every change; of values that follow each other quickly perhaps only the last. It outlives lost
   * connections and restarts: then everything is read anew, and what vanished meanwhile is reported as deleted.
   */
  watch(o: WatchOptions<T>): Watch {
    return new KvWatch<T>(this.link, this.name, o);
  }

  /** A watch that keeps the values at hand; resolves once it is live. */
  view(): Promise<KvView<T>> {
    return KvView.open<T>((o) => this.watch(o));
  }

  /** undefined = refused: `expect` is no longer the last revision. */
  private async write(
    key: string,
    text: string,
    expect: number | undefined,
    o: WriteOptions,
    headers?: [string, string][],
  ): Promise<number | undefined> {
    const id = randomUUID();
    const subject = subjectOf(this.name, key);
    if (!this.exists) await this.whenExists();
    const stored = await store(this.link, subject, text, {
      id,
      ...(expect !== undefined && { expect }),
      ...(headers && { headers }),
      ...(o.timeoutMs !== undefined && { timeoutMs: o.timeoutMs }),
    });
    if ('seq' in stored) return stored.seq;
    if (stored.tries === 1) return undefined;
    // An earlier try may have been the winner whose acknowledgement was lost.
    const now = await this.last(key);
    return now?.headers['Nats-Msg-Id'] === id ? now.seq : undefined;
  }

  private async last(key: string): Promise<StoredMessage | undefined> {
    const subject = subjectOf(this.name, key);
    return this.patiently(() => lastMessage(this.link, bucketStream(this.name), subject));
  }

  private async whenExists(): Promise<void> {
    await this.patiently(() => lastMessage(this.link, bucketStream(this.name), `$KV.${this.name}.=`));
  }

  /** Rides out a bucket that is not there yet, and (for a moment) a server that restarts; not what was closed. */
  private async patiently<R>(read: () => Promise<R>): Promise<R> {
    const begun = performance.now();
    for (;;) {
      try {
        const r = await read();
        this.exists = true;
        return r;
      } catch (e) {
        const missing = e instanceof ApiFailure && e.errCode === ApiErrors.streamNotFound;
        const passing = e instanceof ApiFailure ? e.passing : e instanceof MusterError && isPassing(e);
        const limit = this.link.closed ? 0 : missing ? BUCKET_WAIT_MS : passing ? 5000 : 0;
        const left = limit - (performance.now() - begun);
        if (left <= 0) {
          if (missing)
            throw new MusterError(
              'BUS_UNAVAILABLE',
              `bucket ${this.name} does not exist: inventory creates it, does it run?`,
            );
          throw e instanceof ApiFailure ? apiError(e, `bucket ${this.name}`) : e;
        }
        await this.link.whenConnected(left);
        await pause(missing ? 200 : 50);
      }
    }
  }

  private entry(key: string, m: StoredMessage): Entry<T> {
    return { key, value: JSON.parse(m.text) as T, revision: m.seq };
  }

  private conflict(key: string, why: string): MusterError {
    return new MusterError('REVISION_CONFLICT', `${this.name}/${key}: ${why}`, { bucket: this.name, key });
  }
}

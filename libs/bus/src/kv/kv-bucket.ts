import {
  isConflict,
  isConflictInDoubt,
  MusterError,
  refusedInDoubt,
  unreadable,
  type BucketName,
  type Clock,
  type Timer,
  type UnreadableRecord,
} from '#contracts';
import type { Link } from '../ports/link.js';
import { apiError, isPassing, isStreamMissing } from '../ports/log-failure.js';
import { patienceWith } from '../servers/patience.js';
import type { StoredMessage } from '../ports/message-log.js';
import { readLimitMs } from '../streams/ask-patiently.js';
import { storageIsWhole } from '../streams/storage-is-whole.js';
import { store } from '../streams/store.js';
import { bucketStream, isMarker, subjectFound, subjectOf } from '../store-names/kv-keys.js';
import { KvView } from './kv-view.js';
import { KvWatch, type WatchOptions } from './kv-watch.js';
import type { Entry, Watch } from '../ports/types.js';

/** How long an operation waits for a bucket that inventory has not created yet, ms. */
const BUCKET_WAIT_MS = 30_000;

export interface WriteOptions {
  /** In all, over every try, ms. @default 5000 on a single server, 12000 on a cluster */
  timeoutMs?: number;
}

/**
 * One bucket of records, JSON. Every write is a compare-and-set; nothing is ever decided from a read, since a read may
 * be old by the time it is used. Each write carries a nonce: one whose acknowledgement was lost is asked for again, and
 * read back, instead of being taken for a defeat. Where another has written over it meanwhile nobody can tell: the
 * REVISION_CONFLICT has the fact `inDoubt` then. After that, TIMEOUT or BUS_UNAVAILABLE it may have been written or not.
 */
export class KvBucket<T> {
  private exists = false;

  constructor(
    private readonly link: Link,
    readonly name: BucketName,
  ) {}

  /** By which it waits, and whoever reads it with others. */
  get clock(): Clock {
    return this.link.clock;
  }

  /**
   * The current value; a deleted one is undefined.
   * @throws RECORD_UNREADABLE, with `revision`: there is one, and nothing may be decided as if there were none
   */
  async get(key: string): Promise<Entry<T> | undefined> {
    const found = await this.read(key);
    if (found !== undefined && 'why' in found) throw unreadable(found);
    return found;
  }

  /** The same for who deals with a record that cannot be read. */
  async read(key: string): Promise<Entry<T> | UnreadableRecord | undefined> {
    const m = await this.last(key);
    if (m === undefined || isMarker(m.headers['KV-Operation'])) {
      this.link.unreadable.forget(this.name, key);
      return undefined;
    }
    const decoded = this.link.decode(this.name, key, m.text);
    if ('value' in decoded) {
      this.link.unreadable.forget(this.name, key);
      return { key, value: decoded.value as T, revision: m.seq };
    }
    const record: UnreadableRecord = { bucket: this.name, key, revision: m.seq, ...decoded };
    this.link.unreadable.note(record);
    return record;
  }

  /** Takes away what cannot be read, as it was found. REVISION_CONFLICT where it has changed since. */
  async discard(record: UnreadableRecord): Promise<void> {
    const { key } = record;
    const found = { key, subject: subjectFound(this.name, record) };
    const gone = await this.writeTo(found, '', record.revision, {}, [['KV-Operation', 'DEL']]);
    if (gone === undefined) throw this.conflict(key, `revision ${record.revision} is no longer current`);
    this.link.unreadable.forget(this.name, key, record.foreign === true);
  }

  /**
   * Of the last write of any key, deletions too; 0: none yet.
   * @param known one that was seen: where nothing was written since, the server has far less to do
   */
  async lastRevision(known = 0): Promise<number> {
    if (known > 0) return this.endAfter(known);
    return (await this.patiently(() => this.link.messages.info(bucketStream(this.name)))).lastSeq;
  }

  /** `seen` where nothing is stored after it, else the bucket's last revision. */
  private async endAfter(seen: number): Promise<number> {
    const stream = bucketStream(this.name);
    if (!(await this.patiently(() => this.link.messages.hasFrom(stream, seen + 1)))) return seen;
    return (await this.patiently(() => this.link.messages.info(stream))).lastSeq;
  }

  /** Revision of the new value. REVISION_CONFLICT where the key has a value, or this may have been written and deleted. */
  async create(key: string, value: T, o: WriteOptions = {}): Promise<number> {
    const first = await this.write(key, this.encode(key, value), 0, o);
    if (first !== undefined) return first;
    const there = await this.last(key);
    if (there && isMarker(there.headers['KV-Operation'])) {
      const again = await this.write(key, this.encode(key, value), there.seq, o);
      if (again !== undefined) return again;
    }
    throw this.conflict(key, 'it exists');
  }

  /** Revision of the new value. REVISION_CONFLICT where `revision` is no longer the current one. */
  async update(key: string, value: T, revision: number, o: WriteOptions = {}): Promise<number> {
    const written = await this.write(key, this.encode(key, value), revision, o);
    if (written === undefined) throw this.conflict(key, `revision ${revision} is no longer current`);
    return written;
  }

  /**
   * Read, decide, compare-and-set; again with jitter when another was faster. `fn` may run several times and must
   * depend on nothing but its argument; it returns undefined, or an equal value, to leave the key alone, and may throw
   * to refuse.
   * @param o.overUnreadable a value that cannot be read counts as none, and is overwritten: only for records that
   *   nothing is decided by
   * @returns `changed` false: `fn` leaves it alone as it stands now, be it because an earlier try in doubt was written
   * @throws what `fn` throws, RECORD_UNREADABLE, REVISION_CONFLICT: then nothing was written. TIMEOUT instead of each of
   *   them where an earlier try may have been
   */
  async mutate(
    key: string,
    fn: (current: Entry<T> | undefined) => T | undefined | Promise<T | undefined>,
    o: { overUnreadable?: boolean } = {},
  ): Promise<{ value: T | undefined; revision: number; changed: boolean }> {
    const deadline = this.clock.monotonicMs() + 10_000;
    let mayBeWritten = false;
    const ended = (e: unknown): unknown => (mayBeWritten ? refusedInDoubt(e) : e);
    for (let tries = 1; ; tries++) {
      const found = await this.read(key);
      const broken = found !== undefined && 'why' in found ? found : undefined;
      if (broken !== undefined && o.overUnreadable !== true) throw ended(unreadable(broken));
      const current = found !== undefined && 'value' in found ? found : undefined;
      const before = current && JSON.stringify(current.value);
      let next: T | undefined;
      try {
        next = await fn(current);
      } catch (e) {
        throw ended(e);
      }
      if (next === undefined || JSON.stringify(next) === before)
        return { value: current?.value, revision: current?.revision ?? 0, changed: false };
      try {
        const over = current ?? broken;
        const revision = over ? await this.update(key, next, over.revision) : await this.create(key, next);
        return { value: next, revision, changed: true };
      } catch (e) {
        mayBeWritten ||= isConflictInDoubt(e);
        if (!isConflict(e) || this.clock.monotonicMs() >= deadline) throw ended(e);
        await this.clock.sleep(this.link.random.number() * Math.min(100, 5 * 2 ** tries));
      }
    }
  }

  /**
   * Stores a value sealed that stands in clear, as it is then; one without anything to seal stays. Where somebody writes
   * meanwhile nothing is done: what is written is sealed.
   */
  async sealStored({ key, value }: Entry<T>): Promise<void> {
    if (this.link.seal(this.name, value) === value) return;
    await this.storeAnew(key, (stored, anew) => stored !== anew);
  }

  /**
   * Stores a value as this version does where it stands in an older schema; any other stays.
   * @returns false: somebody wrote it meanwhile, in whichever schema
   */
  async migrateStored(key: string): Promise<boolean> {
    return this.storeAnew(key, (stored, anew) => schemaIn(stored) < schemaIn(anew));
  }

  private async storeAnew(key: string, isDue: (stored: string, anew: string) => boolean): Promise<boolean> {
    const m = await this.last(key);
    if (m === undefined || isMarker(m.headers['KV-Operation'])) return true;
    const decoded = this.link.decode(this.name, key, m.text);
    if ('why' in decoded) return true;
    const anew = this.encode(key, decoded.value as T);
    if (!isDue(m.text, anew)) return true;
    try {
      return (await this.write(key, anew, m.seq, {})) !== undefined;
    } catch (e) {
      if (isConflict(e)) return false;
      throw e;
    }
  }

  /** Leaves a marker that watchers see. With a revision: REVISION_CONFLICT where it is no longer the current one. */
  async delete(key: string, revision?: number, o: WriteOptions = {}): Promise<void> {
    const written = await this.write(key, '', revision, o, [['KV-Operation', 'DEL']]);
    if (written === undefined) throw this.conflict(key, `revision ${revision} is no longer current`);
  }

  /**
   * Every value, as of one moment at or after the call: all that was acknowledged before it is among them, also where the
   * server that is read from is behind its cluster.
   * @throws MusterError TIMEOUT where that server does not catch up in time
   */
  async list(): Promise<Entry<T>[]> {
    const found = new Map<string, Entry<T>>();
    let seen = 0;
    let watch: Watch | undefined;
    let timer: Timer | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const late = `bucket ${this.name} could not be listed in time`;
        timer = this.clock.after(this.exists ? readLimitMs(this.link) : BUCKET_WAIT_MS, () =>
          reject(new MusterError('TIMEOUT', late)),
        );
        let end: number | undefined;
        const look = async (): Promise<void> => {
          end ??= await this.endAfter(seen);
          if (seen >= end) resolve();
        };
        watch = this.watch({
          onChange: (key, value, revision) => {
            if (value === undefined) found.delete(key);
            else found.set(key, { key, value, revision });
          },
          onSeen: (revision) => {
            seen = Math.max(seen, revision);
            if (end !== undefined && seen >= end) resolve();
          },
          onLive: () => void look().catch(reject),
        });
      });
    } finally {
      timer?.cancel();
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
    return KvView.open<T>((o) => this.watch(o), this.clock);
  }

  /** What stands in for a record that cannot be read is shown, and never written over it. */
  private encode(key: string, value: T): string {
    if (this.name === 'incidents' && typeof value === 'object' && value !== null && 'unreadable' in value)
      throw new MusterError('RECORD_UNREADABLE', `${this.name}/${key} cannot be read, and is not overwritten`, {
        bucket: this.name,
        key,
      });
    return this.link.encode(this.name, this.link.seal(this.name, value));
  }

  private write(
    key: string,
    text: string,
    expect: number | undefined,
    o: WriteOptions,
    headers?: [string, string][],
  ): Promise<number | undefined> {
    return this.writeTo({ key, subject: subjectOf(this.name, key) }, text, expect, o, headers);
  }

  /**
   * undefined = refused: `expect` is no longer the last revision, and nothing was written.
   * @throws REVISION_CONFLICT in doubt: `expect` is no longer the last revision, and a try before may have been written
   */
  private async writeTo(
    { key, subject }: { key: string; subject: string },
    text: string,
    expect: number | undefined,
    o: WriteOptions,
    headers?: [string, string][],
  ): Promise<number | undefined> {
    const id = this.link.random.uuid();
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
    const now = await this.lastOf(subject);
    if (now?.headers['Nats-Msg-Id'] === id) return now.seq;
    const why = 'it is at another revision now, and whether this was written before is not known';
    throw this.conflict(key, why, { inDoubt: true });
  }

  private async last(key: string): Promise<StoredMessage | undefined> {
    return this.lastOf(subjectOf(this.name, key));
  }

  private async whenExists(): Promise<void> {
    await this.lastOf(`$KV.${this.name}.=`);
  }

  private lastOf(subject: string): Promise<StoredMessage | undefined> {
    return this.patiently(async () => {
      await storageIsWhole(this.link);
      return this.link.messages.last(bucketStream(this.name), subject);
    });
  }

  /** Rides out a bucket that is not there yet, and (for a moment) a server that restarts; not what was closed. */
  private async patiently<R>(read: () => Promise<R>): Promise<R> {
    const begun = this.clock.monotonicMs();
    const { limitMs } = patienceWith(this.link.wire.serverInfo);
    for (;;) {
      try {
        const r = await read();
        this.exists = true;
        return r;
      } catch (e) {
        const missing = isStreamMissing(e);
        const limit = this.link.closed ? 0 : missing ? BUCKET_WAIT_MS : isPassing(e) ? limitMs : 0;
        const left = limit - (this.clock.monotonicMs() - begun);
        if (left <= 0) {
          if (missing)
            throw new MusterError(
              'BUS_UNAVAILABLE',
              `bucket ${this.name} does not exist: inventory creates it, does it run?`,
            );
          throw apiError(e, `bucket ${this.name}`);
        }
        await this.link.whenConnected(left);
        await this.clock.sleep(missing ? 200 : 50);
      }
    }
  }

  private conflict(key: string, why: string, facts: { inDoubt?: true } = {}): MusterError {
    return new MusterError('REVISION_CONFLICT', `${this.name}/${key}: ${why}`, { bucket: this.name, key, ...facts });
  }
}

const schemaIn = (text: string): number => (JSON.parse(text) as { schema?: number }).schema ?? 1;

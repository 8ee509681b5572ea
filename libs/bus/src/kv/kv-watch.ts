import { standIn, type BucketName, type UnreadableRecord } from '#contracts';
import { bucketStream, isMarker, keyOf } from '../store-names/kv-keys.js';
import type { Link } from '../ports/link.js';
import type { ReadMessage } from '../ports/message-log.js';
import { StreamReader } from '../streams/stream-reader.js';
import type { Watch } from '../ports/types.js';

export interface WatchOptions<T> {
  /** `value` undefined: deleted. In the order of revisions per key. */
  onChange(key: string, value: T | undefined, revision: number): void;
  /**
   * A record that cannot be read. `onChange` is told first: what stands in for it, or that there is none any more.
   */
  onUnreadable?(record: UnreadableRecord): void;
  /** After each message of the bucket, also of those that changed nothing here. */
  onSeen?(revision: number): void;
  /** The snapshot is complete; again after each gap. */
  onLive?(): void;
  /** From now on the view may be old. */
  onGap?(): void;
}

/** See {@link KvBucket.watch}. */
export class KvWatch<T> implements Watch {
  /** Revision per key as last reported, over all sessions. */
  private readonly known = new Map<string, number>();
  /** Keys of the snapshot under way; undefined once it is complete. */
  private snapshot: Set<string> | undefined = new Set();
  private readonly reader: StreamReader;

  constructor(
    private readonly link: Link,
    private readonly bucket: BucketName,
    private readonly o: WatchOptions<T>,
  ) {
    this.reader = new StreamReader(link, {
      stream: bucketStream(bucket),
      filter: `$KV.${bucket}.>`,
      start: () => {
        this.snapshot = new Set();
        return { from: 'last-per-subject' };
      },
      onMessage: (m) => {
        this.take(m);
        o.onSeen?.(m.seq);
      },
      onLive: () => this.complete(),
      onGap: () => this.notifyGap(),
    });
  }

  get live(): boolean {
    return this.reader.live;
  }

  close(): Promise<void> {
    return this.reader.close();
  }

  private take(m: ReadMessage): void {
    const { key, foreign } = keyOf(this.bucket, m.subject);
    if (foreign) return this.takeForeign(key, m);
    const before = this.known.get(key);
    if (isMarker(m.headers['KV-Operation'])) {
      this.link.unreadable.forget(this.bucket, key);
      this.snapshot?.delete(key);
      if (before === undefined) return;
      this.known.delete(key);
      this.notify(key, undefined, m.seq);
      return;
    }
    this.snapshot?.add(key);
    // After a gap most of the snapshot is known already. A lower revision is news too: the bucket was restored.
    if (before === m.seq) return;
    this.known.set(key, m.seq);
    const decoded = this.link.decode(this.bucket, key, m.text);
    if ('value' in decoded) {
      this.link.unreadable.forget(this.bucket, key);
      this.notify(key, decoded.value as T, m.seq);
      return;
    }
    const record: UnreadableRecord = { bucket: this.bucket, key, revision: m.seq, ...decoded };
    const instead = standIn(record) as T | undefined;
    if (instead !== undefined || before !== undefined) this.notify(key, instead, m.seq);
    this.notifyUnreadable(record);
  }

  /** Nobody asks for such a key, so nobody misses its value: somebody has to take it away all the same. */
  private takeForeign(key: string, m: ReadMessage): void {
    if (isMarker(m.headers['KV-Operation'])) this.link.unreadable.forget(this.bucket, key, true);
    else this.notifyUnreadable({ bucket: this.bucket, key, revision: m.seq, why: 'no key of ours', foreign: true });
  }

  private notifyUnreadable(record: UnreadableRecord): void {
    if (this.link.unreadable.note(record))
      this.link.log.error({ ...record }, 'a record that cannot be read is left out');
    try {
      this.o.onUnreadable?.(record);
    } catch (e) {
      this.link.log.error({ err: e, bucket: this.bucket, key: record.key }, 'a watcher failed');
    }
  }

  private complete(): void {
    const snapshot = this.snapshot ?? new Set<string>();
    this.snapshot = undefined;
    for (const [key, revision] of [...this.known]) {
      if (snapshot.has(key)) continue;
      this.known.delete(key);
      this.link.unreadable.forget(this.bucket, key);
      this.notify(key, undefined, revision);
    }
    this.o.onLive?.();
  }

  private notifyGap(): void {
    try {
      this.o.onGap?.();
    } catch (e) {
      this.link.log.error({ err: e, bucket: this.bucket }, 'a watcher failed');
    }
  }

  private notify(key: string, value: T | undefined, revision: number): void {
    try {
      this.o.onChange(key, value, revision);
    } catch (e) {
      this.link.log.error({ err: e, bucket: this.bucket, key }, 'a watcher failed');
    }
  }
}

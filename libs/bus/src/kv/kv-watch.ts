import type { BucketName } from '#contracts';
import { bucketStream, decodeKey, isMarker } from './kv-keys.js';
import type { Link } from '../ports/link.js';
import type { ReadMessage } from '../ports/message-log.js';
import { StreamReader } from '../streams/stream-reader.js';
import type { Watch } from '../types.js';

export interface WatchOptions<T> {
  /** `value` undefined: deleted. In the order of revisions per key. */
  onChange(key: string, value: T | undefined, revision: number): void;
  /** After each message of the bucket, also of those that changed nothing here. */
  onSeen?(revision: number): void;
  /** The snapshot is complete; again after each gap. */
  onLive?(): void;
  /** From now on the view may be old. */
  onGap?(): void;
}

const text = new TextDecoder();

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
      onGap: () => o.onGap?.(),
    });
  }

  get live(): boolean {
    return this.reader.live;
  }

  close(): Promise<void> {
    return this.reader.close();
  }

  private take(m: ReadMessage): void {
    const key = decodeKey(this.bucket, m.subject);
    const before = this.known.get(key);
    if (isMarker(m.headers['KV-Operation'])) {
      this.snapshot?.delete(key);
      if (before === undefined) return;
      this.known.delete(key);
      this.tell(key, undefined, m.seq);
      return;
    }
    this.snapshot?.add(key);
    // After a gap most of the snapshot is known already. A lower revision is news too: the bucket was restored.
    if (before === m.seq) return;
    let value: T;
    try {
      value = JSON.parse(text.decode(m.data)) as T;
    } catch (e) {
      this.link.log.error({ err: e, bucket: this.bucket, key }, 'a value that is not JSON is left out');
      return;
    }
    this.known.set(key, m.seq);
    this.tell(key, value, m.seq);
  }

  private complete(): void {
    const snapshot = this.snapshot ?? new Set<string>();
    this.snapshot = undefined;
    for (const [key, revision] of [...this.known]) {
      if (snapshot.has(key)) continue;
      this.known.delete(key);
      this.tell(key, undefined, revision);
    }
    this.o.onLive?.();
  }

  private tell(key: string, value: T | undefined, revision: number): void {
    try {
      this.o.onChange(key, value, revision);
    } catch (e) {
      this.link.log.error({ err: e, bucket: this.bucket, key }, 'a watcher failed');
    }
  }
}

import { unreadable } from '#contracts';
import type { KvBucket } from './kv-bucket.js';
import type { KvView } from './kv-view.js';
import type { Entry } from '../ports/types.js';

/** A view that is further behind than this, ms, is not waited for: the key is then read. */
const BEHIND_MS = 250;

/** Between the starts of two questions, ms, while more reads come than one at a time. */
const GAP_MS = 5;

/** So many that wait for the same question end the gap before it: shared by them it costs each of them little. */
const MANY = 8;

/**
 * Single keys out of a view, as fresh as reads of the bucket: whoever has been told of a write, by whichever process,
 * finds it. Each read waits until the view shows all that the bucket held at a moment after the read began. All who ask
 * at the same time share one question for where the bucket ends, so that a busy reader costs the server next to nothing.
 */
export class FreshReads<T> {
  private asking: Promise<number> | undefined;
  private askedAt = 0;
  private next: Promise<number> | undefined;
  /** Reads that share the next question. */
  private waiting = 0;
  /** Ends the gap before it. */
  private enough = new AbortController();

  constructor(
    private readonly bucket: Pick<KvBucket<T>, 'get' | 'lastRevision' | 'clock'>,
    private readonly view: Pick<KvView<T>, 'get' | 'shows' | 'revision' | 'unreadable'>,
  ) {}

  /** @throws MusterError as a read of the bucket */
  async get(key: string): Promise<Entry<T> | undefined> {
    return this.read(key, await this.isShown(1));
  }

  /** Of each key what {@link get} would answer or throw, by one question for all of them. */
  async each(keys: readonly string[]): Promise<PromiseSettledResult<Entry<T> | undefined>[]> {
    if (keys.length === 0) return [];
    const isShown = await this.isShown(keys.length);
    return Promise.allSettled(keys.map((key) => this.read(key, isShown)));
  }

  private async isShown(reads: number): Promise<boolean> {
    return this.view.shows(await this.end(reads), BEHIND_MS);
  }

  private async read(key: string, isShown: boolean): Promise<Entry<T> | undefined> {
    if (!isShown) return this.bucket.get(key);
    const left = this.view.unreadable.get(key);
    if (left !== undefined) throw unreadable(left);
    return this.view.get(key);
  }

  /** A question that is under way may have been answered before this read began: the next one is shared. */
  private end(reads: number): Promise<number> {
    if (!this.next && !this.asking) return this.ask();
    this.waiting += reads;
    if (this.waiting >= MANY) this.enough.abort();
    return (this.next ??= this.askNext(this.asking));
  }

  private async askNext(before: Promise<number> | undefined): Promise<number> {
    await Promise.allSettled([before]);
    const left = this.askedAt + GAP_MS - this.bucket.clock.monotonicMs();
    if (left > 0) await this.bucket.clock.sleep(left, { signal: this.enough.signal });
    return this.ask();
  }

  private ask(): Promise<number> {
    this.next = undefined;
    this.waiting = 0;
    if (this.enough.signal.aborted) this.enough = new AbortController();
    this.askedAt = this.bucket.clock.monotonicMs();
    const asking = this.bucket.lastRevision(this.view.revision).finally(() => {
      if (this.asking === asking) this.asking = undefined;
    });
    this.asking = asking;
    return asking;
  }
}

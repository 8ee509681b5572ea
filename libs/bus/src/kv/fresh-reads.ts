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
    const end = await this.end();
    if (!(await this.view.shows(end, BEHIND_MS))) return this.bucket.get(key);
    const left = this.view.unreadable.get(key);
    if (left !== undefined) throw unreadable(left);
    return this.view.get(key);
  }

  /** A question that is under way may have been answered before this read began: the next one is shared. */
  private end(): Promise<number> {
    if (!this.next && !this.asking) return this.ask();
    this.waiting += 1;
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

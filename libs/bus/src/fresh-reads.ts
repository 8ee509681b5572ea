import type { KvBucket } from './kv-bucket.js';
import type { KvView } from './kv-view.js';
import type { Entry } from './types.js';

/** A view that is further behind than this, ms, is not waited for: the key is then read. */
const BEHIND_MS = 250;

/**
 * Single keys out of a view, as fresh as reads of the bucket: whoever has been told of a write, by whichever process,
 * finds it. Each read waits until the view shows all that the bucket held at a moment after the read began. All who ask
 * at the same time share one question for where the bucket ends, so that a busy reader costs the server next to nothing.
 */
export class FreshReads<T> {
  private asking: Promise<number> | undefined;
  private next: Promise<number> | undefined;

  constructor(
    private readonly bucket: Pick<KvBucket<T>, 'get' | 'lastRevision'>,
    private readonly view: Pick<KvView<T>, 'get' | 'shows'>,
  ) {}

  /** @throws MusterError as a read of the bucket */
  async get(key: string): Promise<Entry<T> | undefined> {
    const end = await this.end();
    return (await this.view.shows(end, BEHIND_MS)) ? this.view.get(key) : this.bucket.get(key);
  }

  /** A question that is under way may have been answered before this read began: the next one is shared. */
  private end(): Promise<number> {
    if (!this.asking) return this.ask();
    this.next ??= this.asking.then(
      () => this.ask(),
      () => this.ask(),
    );
    return this.next;
  }

  private ask(): Promise<number> {
    this.next = undefined;
    const asking = this.bucket.lastRevision().finally(() => {
      if (this.asking === asking) this.asking = undefined;
    });
    this.asking = asking;
    return asking;
  }
}

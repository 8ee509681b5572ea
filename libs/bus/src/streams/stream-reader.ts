import type { Timer } from '#contracts';
import type { Link } from '../ports/link.js';
import { apiError, isStreamMissing } from '../ports/log-failure.js';
import type { ReadMessage, ReadSession, ReadStart } from '../ports/message-log.js';
import type { Closable } from '../ports/types.js';
import { storageIsWhole } from './storage-is-whole.js';

export interface ReaderOptions {
  stream: string;
  filter: string;
  /** Asked at the first start and after each gap. */
  start(): ReadStart;
  /** In order, without holes within one session. A promise holds the sender back until it is done. */
  onMessage(m: ReadMessage): void | Promise<void>;
  /** Everything that was stored when the session began has been handed over. */
  onLive?(): void;
  /** What comes from now on is a new session: messages may have been missed, or come again. */
  onGap?(): void;
}

const RETRY_MS = 250;

/** Ordered reader of a stream: its session is made anew after a lost connection and after every doubt. */
export class StreamReader implements Closable {
  private reading: Reading | undefined;
  private closed = false;
  private retry: Timer | undefined;
  private failing = false;
  private readonly off: () => void;

  constructor(
    private readonly link: Link,
    private readonly o: ReaderOptions,
  ) {
    this.off = link.onStatus((s) => (s === 'connected' ? this.restart('reconnected') : this.drop()));
    this.begin();
  }

  get live(): boolean {
    return this.reading?.live ?? false;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.off();
    this.retry?.cancel();
    const last = this.reading;
    this.drop();
    await last?.work;
  }

  private drop(): void {
    const last = this.reading;
    this.reading = undefined;
    if (!last) return;
    last.end();
    this.o.onGap?.();
  }

  private restart(why: string): void {
    if (this.closed) return;
    this.link.log.debug({ stream: this.o.stream, why }, 'reader starts anew');
    this.drop();
    this.begin();
  }

  private begin(): void {
    if (this.closed || !this.link.connected || this.link.closed) return;
    this.retry?.cancel();
    const reading: Reading = new Reading(this.link, this.o, (why) => {
      if (this.reading === reading) this.restart(why);
    });
    this.reading = reading;
    reading.open().then(
      () => {
        this.failing = false;
      },
      (e: unknown) => {
        if (this.reading !== reading) return;
        // All that was stored may have come before the server's word was lost.
        const wasLive = reading.live;
        reading.end();
        this.reading = undefined;
        if (wasLive) this.o.onGap?.();
        if (!this.failing) this.log(e);
        this.failing = true;
        const { clock, random } = this.link;
        this.retry = clock.after(RETRY_MS + random.number() * RETRY_MS, () => this.begin());
      },
    );
  }

  private log(e: unknown): void {
    const { stream } = this.o;
    // At the first start of a cluster: nothing is wrong.
    if (isStreamMissing(e)) this.link.log.info({ stream }, 'waits until inventory has created the storage');
    else this.link.log.warn({ err: apiError(e, stream), stream }, 'cannot read the stream yet');
  }
}

/** One session, from before it stands: messages may come before the server's word that it does. */
class Reading {
  live = false;
  /** Resolves when the message in hand is done with. */
  work: Promise<void> = Promise.resolve();
  private over = false;
  private session: ReadSession | undefined;

  constructor(
    private readonly link: Link,
    private readonly o: ReaderOptions,
    private readonly onDoubt: (why: string) => void,
  ) {}

  async open(): Promise<void> {
    await storageIsWhole(this.link);
    if (this.over) return;
    const session = await this.link.messages.read(this.o.stream, {
      filter: this.o.filter,
      start: this.o.start(),
      onMessage: (m) => this.hand(m),
      onLive: () => this.becomeLive(),
      onDoubt: this.onDoubt,
    });
    if (this.over) session.close();
    else this.session = session;
  }

  end(): void {
    this.over = true;
    this.live = false;
    this.session?.close();
  }

  private hand(m: ReadMessage): void | Promise<void> {
    if (this.over) return;
    try {
      const done = this.o.onMessage(m);
      if (done) return (this.work = done.catch((e: unknown) => this.failed(e)));
    } catch (e) {
      this.failed(e);
    }
  }

  private becomeLive(): void {
    if (this.over) return;
    this.live = true;
    try {
      this.o.onLive?.();
    } catch (e) {
      this.failed(e);
    }
  }

  private failed(err: unknown): void {
    this.link.log.error({ err, stream: this.o.stream }, 'a reader of the stream failed');
  }
}

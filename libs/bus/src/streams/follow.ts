import { Streams } from '#contracts';
import type { Link } from '../ports/link.js';
import type { ReadMessage, ReadStart } from '../ports/message-log.js';
import { StreamReader } from './stream-reader.js';
import { coveringFilter, matches } from './subject-filter.js';
import type { Closable } from '../ports/types.js';

export interface FollowOptions {
  /** Begin with this sequence. */
  fromSeq?: number;
  /** Begin with what was stored at or after this time (the server's clock). */
  since?: Date;
  /** Begin with the last so many that match. */
  last?: number;
  /** Only what is stored from now on. The default, where nothing else is said. */
  newOnly?: boolean;
  /** What was stored when the reading began has been handed over; again after each lost connection. */
  onLive?: () => void;
}

export type FollowHandler = (subject: string, value: unknown, seq: number) => void | Promise<void>;

/** Ordered reader of the events' stream: each message once, in order, also across lost connections. */
export class Follow implements Closable {
  private next: number | undefined;
  private reader: StreamReader | undefined;
  private closed = false;
  private readonly begun: Promise<void>;

  constructor(
    private readonly link: Link,
    private readonly filters: string[],
    private readonly o: FollowOptions,
    private readonly fn: FollowHandler,
  ) {
    this.begun = this.begin();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.reader?.close();
    await this.begun;
  }

  private async begin(): Promise<void> {
    if (this.o.last !== undefined && this.o.last > 0) this.next = await this.seqOfLast(this.o.last);
    else if (this.o.newOnly || (this.o.fromSeq === undefined && this.o.since === undefined))
      this.next = (await this.state())?.next;
    else if (this.o.fromSeq !== undefined) this.next = Math.max(1, this.o.fromSeq);
    if (this.closed) return;
    this.reader = new StreamReader(this.link, {
      stream: Streams.events.name,
      filter: coveringFilter(this.filters),
      start: () => this.start(),
      onMessage: (m) => this.take(m),
      ...(this.o.onLive && { onLive: this.o.onLive }),
    });
  }

  private start(): ReadStart {
    if (this.next !== undefined) return { from: 'seq', seq: this.next };
    if (this.o.since !== undefined) return { from: 'time', time: this.o.since };
    return { from: 'new' };
  }

  private take(m: ReadMessage): void | Promise<void> {
    this.next = m.seq + 1;
    if (!this.filters.some((f) => matches(f, m.subject))) return;
    let value: unknown;
    try {
      value = JSON.parse(m.text);
    } catch (e) {
      this.link.log.warn({ err: e, subject: m.subject, seq: m.seq }, 'an event that is not JSON is left out');
      return;
    }
    return this.fn(m.subject, value, m.seq);
  }

  /** undefined: not known now; the server cannot be asked. */
  private async state(): Promise<{ first: number; next: number } | undefined> {
    while (!this.closed && !this.link.closed) {
      try {
        const { firstSeq, lastSeq } = await this.link.messages.info(Streams.events.name);
        return { first: firstSeq, next: lastSeq + 1 };
      } catch (e) {
        this.link.log.debug({ err: e }, 'the stream cannot be asked yet');
        await this.link.clock.sleep(250);
        await this.link.whenConnected(5000);
      }
    }
    return undefined;
  }

  /** Where the last `count` matching messages begin: looked for from the end, in windows that grow. */
  private async seqOfLast(count: number): Promise<number | undefined> {
    const state = await this.state();
    if (!state) return undefined;
    for (let window = count * 4; ; window *= 8) {
      const from = Math.max(state.first, state.next - window);
      const found = await this.matching(from, state.next);
      if (found.length >= count) return found[found.length - count];
      if (from <= state.first) return from === 0 ? 1 : from;
    }
  }

  private async matching(from: number, before: number): Promise<number[]> {
    const seqs: number[] = [];
    await new Promise<void>((resolve) => {
      const off = this.link.onStatus(() => this.link.closed && resolve());
      const scan: StreamReader = new StreamReader(this.link, {
        stream: Streams.events.name,
        filter: coveringFilter(this.filters),
        start: () => ({ from: 'seq', seq: Math.max(1, (seqs.at(-1) ?? from - 1) + 1) }),
        onMessage: (m) => {
          if (m.seq < before && this.filters.some((f) => matches(f, m.subject))) seqs.push(m.seq);
        },
        onLive: () => {
          off();
          void scan.close().then(resolve);
        },
      });
    });
    return seqs;
  }
}

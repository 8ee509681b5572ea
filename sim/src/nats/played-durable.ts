import type { ConsumerConfig } from '#bus/ports/message-log.js';
import { NS_PER_MS, type Scheduled, type VirtualTime } from '../time/virtual-time.js';
import type { PlayedMessage, PlayedStream } from './played-stream.js';
import { matcher } from './subject-match.js';

/** Out with somebody, or waiting to be given out again. */
interface Pending {
  deliveries: number;
  /** Given out again when it rings; undefined: as soon as somebody asks. */
  timer: Scheduled | undefined;
}

/** Somebody who asked for a message. */
export interface PullRequest {
  /** False: taken back, or over. */
  open: boolean;
  deliver(consumer: PlayedDurable, m: PlayedMessage, deliveries: number): void;
  refuse(why: string): void;
}

/** A durable consumer: each message goes to one of those who ask, until it is acknowledged. */
export class PlayedDurable {
  private readonly pending = new Map<number, Pending>();
  /** Their time is over. */
  private again: number[] = [];
  private waiting: PullRequest[] = [];
  private next: number;
  private readonly matching: (subject: string) => boolean;
  private readonly ackWaitNs: number;
  private readonly most: number;

  constructor(
    private readonly time: VirtualTime,
    private readonly stream: PlayedStream,
    readonly config: Partial<ConsumerConfig> & { durable_name: string },
  ) {
    this.matching = matcher(config.filter_subject ?? '>');
    this.ackWaitNs = config.ack_wait ?? 30_000 * NS_PER_MS;
    this.most = config.max_ack_pending ?? 1000;
    this.next = config.deliver_policy === 'new' ? stream.lastSeq + 1 : 1;
  }

  pull(request: PullRequest): void {
    this.waiting.push(request);
    this.serve();
  }

  /** Hands out what it has to those who wait, first to whom asked first. */
  serve(): void {
    while (this.waiting.length > 0) {
      if (this.waiting[0]?.open !== true) {
        this.waiting.shift();
        continue;
      }
      const m = this.choose();
      if (!m) return;
      const request = this.waiting.shift() as PullRequest;
      request.open = false;
      const deliveries = (this.pending.get(m.seq)?.deliveries ?? 0) + 1;
      this.pending.set(m.seq, { deliveries, timer: this.ring(m.seq, this.ackWaitNs) });
      request.deliver(this, m, deliveries);
    }
  }

  /** Done with, whoever had it last. */
  ack(seq: number): void {
    const p = this.pending.get(seq);
    if (!p) return;
    p.timer?.cancel();
    this.pending.delete(seq);
    this.serve();
  }

  nak(seq: number, delayMs: number): void {
    this.restartTimer(seq, delayMs * NS_PER_MS);
  }

  working(seq: number): void {
    this.restartTimer(seq, this.ackWaitNs);
  }

  /** Nobody's request outlives the server; what was out with somebody stays so for its time. */
  restart(): void {
    this.waiting = [];
    this.next = Math.min(this.next, this.stream.lastSeq + 1);
    this.again = this.again.filter((seq) => this.stream.get(seq));
    for (const [seq, p] of [...this.pending]) {
      p.timer?.cancel();
      if (this.stream.get(seq)) p.timer = this.again.includes(seq) ? undefined : this.ring(seq, this.ackWaitNs);
      else this.pending.delete(seq);
    }
  }

  /** It was deleted, or its stream. */
  end(why: string): void {
    for (const p of this.pending.values()) p.timer?.cancel();
    this.pending.clear();
    for (const request of this.waiting.splice(0)) if (request.open) request.refuse(why);
  }

  private choose(): PlayedMessage | undefined {
    for (;;) {
      const seq = this.again.shift();
      if (seq === undefined) break;
      const m = this.stream.get(seq);
      if (m && this.pending.has(seq)) return m;
      this.pending.delete(seq);
    }
    if (this.pending.size >= this.most) return undefined;
    const m = this.stream.nextOf(this.matching, this.next);
    this.next = (m?.seq ?? this.stream.lastSeq) + 1;
    return m;
  }

  private restartTimer(seq: number, ns: number): void {
    const p = this.pending.get(seq);
    // One whose time is over is given out again, whatever is said of it now.
    if (!p?.timer) return;
    p.timer.cancel();
    p.timer = this.ring(seq, ns);
  }

  private ring(seq: number, ns: number): Scheduled {
    return this.time.schedule(ns, `${this.config.durable_name} again`, () => {
      const p = this.pending.get(seq);
      if (!p) return;
      p.timer = undefined;
      this.again.push(seq);
      this.serve();
    });
  }
}

import type { ConsumerInfo } from '@nats-io/jetstream';
import type { Msg, MsgHdrs, Subscription } from '@nats-io/transport-node';
import type { Timer } from '#contracts';
import type { ReadMessage, ReadOptions, ReadSession } from '../ports/message-log.js';
import { HEARTBEAT_MS } from '../readings/reading.js';
import { systemClock } from '../system/system-clock.js';
import { deliveredAt } from './delivered-at.js';
import type { NatsWire } from './nats-wire.js';

/** Heartbeats that may be missed before the session is in doubt. */
const MISSED_BEATS = 3;

/**
 * One ephemeral push consumer. In doubt after a hole in the consumer's sequence, or silence without heartbeats. Ticks are
 * counted instead of comparing clocks, so that a paused process does not take its own pause for the server's silence.
 */
export class NatsReadSession implements ReadSession {
  private live = false;
  private ended = false;
  private sub: Subscription | undefined;
  private ticker: Timer | undefined;
  private quietTicks = 0;
  private received = 0;
  /** Messages that were there at the start; unknown until the server has answered. */
  private total: number | undefined;
  private work: Promise<void> = Promise.resolve();
  private busy = 0;

  /** @param at the subject on which the messages come */
  constructor(
    private readonly wire: NatsWire,
    private readonly at: string,
    private readonly o: ReadOptions,
  ) {}

  /** Before the server is asked: it may send before it answers. */
  listen(): void {
    this.sub = this.wire.nc.subscribe(this.at, {
      callback: (err, msg) => (err ? this.doubt(err.message) : this.receive(msg)),
    });
  }

  /** The server has agreed. */
  begin(info: ConsumerInfo): void {
    if (this.ended) return;
    this.total = info.num_pending + info.delivered.consumer_seq;
    this.ticker = systemClock.every(HEARTBEAT_MS, () => {
      if (++this.quietTicks > MISSED_BEATS) this.doubt('no heartbeat');
    });
    this.settle();
  }

  close(): void {
    this.ended = true;
    this.ticker?.cancel();
    // The server drops the consumer by itself once nobody listens.
    if (this.sub && !this.sub.isClosed() && !this.wire.nc.isClosed()) this.sub.unsubscribe();
  }

  private doubt(why: string): void {
    if (this.ended) return;
    this.close();
    this.o.onDoubt(why);
  }

  private receive(msg: Msg): void {
    if (this.ended) return;
    this.quietTicks = 0;
    if (msg.headers?.code === 100) return this.control(msg);
    const at = deliveredAt(msg.reply ?? '');
    if (!at) return this.doubt(`unexpected message ${msg.headers?.code ?? ''} ${msg.headers?.description ?? ''}`);
    if (at.consumerSeq !== this.received + 1) return this.doubt('a message is missing');
    this.received = at.consumerSeq;
    if (at.pending === 0) this.total = this.received;
    this.hand({
      subject: msg.subject,
      seq: at.streamSeq,
      get text() {
        return msg.string();
      },
      headers: headersOf(msg.headers),
    });
    this.settle();
  }

  private hand(m: ReadMessage): void {
    const run = (): void | Promise<void> => (this.ended ? undefined : this.o.onMessage(m));
    if (this.busy === 0) {
      const done = run();
      if (done) this.queue(() => done);
    } else this.queue(run);
  }

  private queue(step: () => void | Promise<void>): void {
    this.busy++;
    this.work = this.work
      .then(step)
      .catch((e: unknown) => this.doubt(`its reader failed: ${String(e)}`))
      .then(() => {
        this.busy--;
      });
  }

  private control(msg: Msg): void {
    if (msg.reply) {
      // Flow control: the server goes on when we answer, so the answer waits for the slow reader.
      if (this.busy === 0) msg.respond();
      else this.queue(() => void msg.respond());
      return;
    }
    const last = Number(msg.headers?.get('Nats-Last-Consumer') || NaN);
    if (Number.isFinite(last) && last !== this.received) return this.doubt('a message is missing before a heartbeat');
    const stalled = msg.headers?.get('Nats-Consumer-Stalled');
    if (!stalled) {
      // The server has nothing more to send: what was counted at the start may have been deleted meanwhile.
      this.total = this.received;
      this.settle();
    } else if (this.busy === 0) this.wire.nc.publish(stalled);
  }

  private settle(): void {
    if (this.live || this.ended || this.total === undefined || this.received < this.total) return;
    const announce = (): void => {
      if (this.ended || this.live) return;
      this.live = true;
      this.o.onLive();
    };
    if (this.busy === 0) announce();
    else this.queue(announce);
  }
}

const none: Record<string, string> = Object.freeze({});

function headersOf(h: MsgHdrs | undefined): Record<string, string> {
  if (!h) return none;
  const first: Record<string, string> = {};
  for (const [name, values] of h) first[name] = values[0] ?? '';
  return first;
}

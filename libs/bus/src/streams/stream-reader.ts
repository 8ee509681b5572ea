import type { ConsumerConfig, ConsumerInfo } from '@nats-io/jetstream';
import type { Msg, MsgHdrs, Subscription } from '@nats-io/transport-node';
import { MusterError } from '#contracts';
import { busFailure } from '../nats/failures.js';
import { api, storageIsWhole } from '../nats/jetstream-api.js';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import type { Link } from '../nats/link.js';
import type { Closable } from '../types.js';

export type ReaderStart =
  { from: 'last-per-subject' | 'all' | 'new' } | { from: 'seq'; seq: number } | { from: 'time'; time: Date };

export interface ReaderMessage {
  subject: string;
  seq: number;
  data: Uint8Array;
  headers: MsgHdrs | undefined;
}

export interface ReaderOptions {
  stream: string;
  filter: string;
  /** Asked at the first start and after each gap. */
  start(): ReaderStart;
  /** In order, without holes within one session. A promise holds the sender back until it is done. */
  onMessage(m: ReaderMessage): void | Promise<void>;
  /** Everything that was stored when the session began has been handed over. */
  onLive?(): void;
  /** What comes from now on is a new session: messages may have been missed, or come again. */
  onGap?(): void;
}

const HEARTBEAT_NS = 1_000_000_000;
/** Heartbeats that may be missed before the session is made anew. */
const MISSED_BEATS = 3;
const RETRY_MS = 250;

/**
 * Ordered reader of a stream: an ephemeral push consumer that is made anew after every doubt: a lost connection, a hole
 * in the consumer's sequence, silence without heartbeats. Ticks are counted instead of comparing clocks, so that a
 * paused process does not take its own pause for the server's silence.
 */
export class StreamReader implements Closable {
  private session: Session | undefined;
  private closed = false;
  private retry: NodeJS.Timeout | undefined;
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
    return this.session?.live ?? false;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.off();
    clearTimeout(this.retry);
    const last = this.session;
    this.drop();
    await last?.idle();
  }

  private drop(): void {
    const last = this.session;
    this.session = undefined;
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
    clearTimeout(this.retry);
    const session: Session = new Session(this.link, this.o, (why) => {
      if (this.session === session) this.restart(why);
    });
    this.session = session;
    session.open().then(
      () => {
        this.failing = false;
      },
      (e: unknown) => {
        if (this.session !== session) return;
        session.end();
        this.session = undefined;
        if (!this.failing) this.tell(e);
        this.failing = true;
        this.retry = setTimeout(() => this.begin(), RETRY_MS + Math.random() * RETRY_MS);
      },
    );
  }

  private tell(e: unknown): void {
    const { stream } = this.o;
    // At the first start of a cluster: nothing is wrong.
    if (e instanceof ApiFailure && e.errCode === ApiErrors.streamNotFound)
      this.link.log.info({ stream }, 'waits until inventory has created the storage');
    else {
      const err = e instanceof MusterError ? e : busFailure(e, stream);
      this.link.log.warn({ err, stream }, 'cannot read the stream yet');
    }
  }
}

class Session {
  live = false;
  private sub: Subscription | undefined;
  private ticker: NodeJS.Timeout | undefined;
  private quietTicks = 0;
  private received = 0;
  /** Messages that were there at the start; unknown until the server has answered. */
  private total: number | undefined;
  private ended = false;
  private work: Promise<void> = Promise.resolve();
  private busy = 0;

  constructor(
    private readonly link: Link,
    private readonly o: ReaderOptions,
    private readonly doubt: (why: string) => void,
  ) {}

  async open(): Promise<void> {
    const inbox = this.link.inbox();
    this.sub = this.link.nc.subscribe(inbox, {
      callback: (err, msg) => (err ? this.doubt(err.message) : this.receive(msg)),
    });
    await storageIsWhole(this.link);
    const info = await api<ConsumerInfo>(this.link, `CONSUMER.CREATE.${this.o.stream}`, {
      stream_name: this.o.stream,
      config: consumerConfig(this.o.filter, inbox, this.o.start()),
    });
    if (this.ended) return;
    this.total = info.num_pending + info.delivered.consumer_seq;
    this.ticker = setInterval(() => {
      if (++this.quietTicks > MISSED_BEATS) this.doubt('no heartbeat');
    }, 1000);
    this.settle();
  }

  end(): void {
    this.ended = true;
    this.live = false;
    clearInterval(this.ticker);
    // The server drops the consumer by itself once nobody listens.
    if (this.sub && !this.sub.isClosed() && !this.link.nc.isClosed()) this.sub.unsubscribe();
  }

  idle(): Promise<void> {
    return this.work;
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
    this.hand({ subject: msg.subject, seq: at.streamSeq, data: msg.data, headers: msg.headers });
    this.settle();
  }

  private hand(m: ReaderMessage): void {
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
      .catch((e: unknown) => this.link.log.error({ err: e, stream: this.o.stream }, 'a reader of the stream failed'))
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
    } else if (this.busy === 0) this.link.nc.publish(stalled);
  }

  private settle(): void {
    if (this.live || this.ended || this.total === undefined || this.received < this.total) return;
    const announce = (): void => {
      if (this.ended || this.live) return;
      this.live = true;
      this.o.onLive?.();
    };
    if (this.busy === 0) announce();
    else this.queue(announce);
  }
}

function consumerConfig(filter: string, inbox: string, start: ReaderStart): Partial<ConsumerConfig> {
  const policy = {
    'last-per-subject': 'last_per_subject',
    all: 'all',
    new: 'new',
    seq: 'by_start_sequence',
    time: 'by_start_time',
  }[start.from] as ConsumerConfig['deliver_policy'];
  return {
    deliver_subject: inbox,
    deliver_policy: policy,
    ...(start.from === 'seq' && { opt_start_seq: start.seq }),
    ...(start.from === 'time' && { opt_start_time: start.time.toISOString() }),
    filter_subject: filter,
    ack_policy: 'none' as ConsumerConfig['ack_policy'],
    replay_policy: 'instant' as ConsumerConfig['replay_policy'],
    max_deliver: 1,
    mem_storage: true,
    num_replicas: 1,
    flow_control: true,
    idle_heartbeat: HEARTBEAT_NS,
    inactive_threshold: 5 * HEARTBEAT_NS,
  };
}

/** `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time>.<pending>[.…]` */
export function deliveredAt(
  reply: string,
): { deliveries: number; streamSeq: number; consumerSeq: number; pending: number } | undefined {
  const t = reply.split('.');
  if (t[0] !== '$JS' || t[1] !== 'ACK' || t.length < 9) return undefined;
  const at = t.length > 9 ? 6 : 4;
  const [deliveries, streamSeq, consumerSeq, , pending] = t.slice(at).map(Number);
  if (![deliveries, streamSeq, consumerSeq, pending].every(Number.isSafeInteger)) return undefined;
  return { deliveries: deliveries!, streamSeq: streamSeq!, consumerSeq: consumerSeq!, pending: pending! };
}

import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumerConfig } from '@nats-io/jetstream';
import type { Msg } from '@nats-io/transport-node';
import { MusterError, Streams } from '#contracts';
import { busFailure, busUnavailable } from '../nats/failures.js';
import { api, storageIsWhole } from '../nats/jetstream-api.js';
import { ApiErrors, ApiFailure } from '../ports/log-failure.js';
import type { Link } from '../nats/link.js';
import { deliveredAt } from './stream-reader.js';
import { coveringFilter, matches } from './subject-filter.js';
import type { Closable } from '../types.js';

/** After this many refusals a message becomes a dead letter. */
export const MAX_DELIVERIES = 5;
/** Who vanished with a message loses it to another replica after this long. */
export const ACK_WAIT_MS = 3000;
/** One pull waits this long for a message. */
const PULL_MS = 5000;
const RETRY_MS = 250;
const ns = (ms: number): number => ms * 1_000_000;

export interface Delivery {
  /** Sequence in the stream. */
  seq: number;
  /** 1 at the first. */
  deliveries: number;
}

export interface DurableOptions {
  durable: string;
  filters: string[];
  /** Where it has to be made first: begin with what comes from then on. @default false: with all that is stored */
  newOnly?: boolean;
  /** The next message goes out when this one is done with, whichever replica has it: their order is kept. @default false */
  oneAtATime?: boolean;
  handle(subject: string, value: unknown, meta: Delivery): Promise<void>;
  /** The message is lost to this consumer: tell somebody. */
  deadLetter(letter: { subject: string; value: unknown; error: string } & Delivery): Promise<void>;
}

/**
 * One of perhaps several replicas that share a durable consumer of the events' stream: every message goes to one of
 * them, until it is acknowledged. At least once, in no order after a refusal: handlers are idempotent and go by
 * sequence, revision or id.
 */
export class DurableConsumer implements Closable {
  private closed = false;
  private readonly running: Promise<void>;
  private stop: () => void = () => undefined;
  private readonly stopped = new Promise<undefined>((resolve) => {
    this.stop = () => resolve(undefined);
  });
  /** Ends the pull under way. */
  private giveUp: (() => void) | undefined;
  private created = false;
  private complained = false;

  constructor(
    private readonly link: Link,
    private readonly o: DurableOptions,
  ) {
    this.running = this.run();
  }

  /** Waits for the message in work. */
  async close(): Promise<void> {
    this.closed = true;
    this.stop();
    this.giveUp?.();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.closed && !this.link.closed) {
      try {
        if (!this.created) await this.create();
        const msg = await this.pull();
        this.complained = false;
        if (msg) await this.process(msg);
      } catch (e) {
        await this.recover(e);
      }
    }
  }

  private async create(): Promise<void> {
    const stream = Streams.events.name;
    const config: Partial<ConsumerConfig> = {
      durable_name: this.o.durable,
      ack_policy: 'explicit' as ConsumerConfig['ack_policy'],
      deliver_policy: (this.o.newOnly === true ? 'new' : 'all') as ConsumerConfig['deliver_policy'],
      ...(this.o.oneAtATime === true && { max_ack_pending: 1 }),
      replay_policy: 'instant' as ConsumerConfig['replay_policy'],
      ack_wait: ns(ACK_WAIT_MS),
      // Deliveries are counted here, where a dead letter can be written.
      max_deliver: -1,
      filter_subject: coveringFilter(this.o.filters),
    };
    await storageIsWhole(this.link);
    await api(this.link, `CONSUMER.DURABLE.CREATE.${stream}.${this.o.durable}`, { stream_name: stream, config });
    this.created = true;
  }

  /** undefined: nothing came in time. Stream messages keep their subject, so they need a subscription of their own. */
  private async pull(): Promise<Msg | undefined> {
    if (!this.link.connected) throw busUnavailable(this.o.durable);
    const inbox = this.link.inbox();
    const msg = await new Promise<Msg | undefined>((resolve, reject) => {
      const sub = this.link.nc.subscribe(inbox, { max: 1, callback: (err, m) => end(err, m) });
      const timer = setTimeout(() => end(new MusterError('TIMEOUT', 'the server does not answer')), PULL_MS + 1000);
      const off = this.link.onStatus(() => end(busUnavailable(this.o.durable)));
      const end = (err: Error | null, m?: Msg): void => {
        clearTimeout(timer);
        off();
        this.giveUp = undefined;
        if (!sub.isClosed() && !this.link.closed) sub.unsubscribe();
        if (err) reject(err);
        else resolve(m);
      };
      this.giveUp = () => end(null);
      this.link.nc.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${Streams.events.name}.${this.o.durable}`,
        JSON.stringify({ batch: 1, expires: ns(PULL_MS) }),
        { reply: inbox },
      );
    });
    const code = msg?.headers?.code ?? 0;
    if (code === 0) return msg;
    if (code === 408 || code === 404) return undefined;
    throw new MusterError('BUS_UNAVAILABLE', `consumer ${this.o.durable}: ${code} ${msg?.headers?.description ?? ''}`);
  }

  private async process(msg: Msg): Promise<void> {
    const at = deliveredAt(msg.reply ?? '');
    if (!at) throw new MusterError('INTERNAL', `consumer ${this.o.durable}: not a stream's message`);
    const meta = { seq: at.streamSeq, deliveries: at.deliveries };
    if (!this.o.filters.some((f) => matches(f, msg.subject))) return this.say(msg, '+ACK');
    // Long work is fine as long as its process lives.
    const working = setInterval(() => this.say(msg, '+WPI'), ACK_WAIT_MS / 3);
    let value: unknown;
    try {
      value = parse(msg.string());
      if (meta.deliveries > MAX_DELIVERIES) throw new Error('its handlers died, or kept it too long');
      await this.o.handle(msg.subject, value, meta);
      this.say(msg, '+ACK');
    } catch (e) {
      await this.refuse(msg, value, meta, e);
    } finally {
      clearInterval(working);
    }
  }

  private async refuse(msg: Msg, value: unknown, meta: Delivery, e: unknown): Promise<void> {
    const facts = { err: e, consumer: this.o.durable, subject: msg.subject, ...meta };
    if (meta.deliveries < MAX_DELIVERIES) {
      this.link.log.warn(facts, 'a message is refused, it comes again');
      return this.say(msg, `-NAK ${JSON.stringify({ delay: ns(100 * 2 ** meta.deliveries) })}`);
    }
    this.link.log.error(facts, 'a message is given up');
    const error = e instanceof Error ? e.message : String(e);
    await this.o.deadLetter({ subject: msg.subject, value, error, ...meta });
    this.say(msg, '+TERM');
  }

  private say(msg: Msg, word: string): void {
    if (!this.link.closed) msg.respond(word);
  }

  private async recover(e: unknown): Promise<void> {
    this.created = false;
    if (!this.complained && !this.link.closed)
      this.link.log.warn({ err: e, consumer: this.o.durable }, 'cannot consume, trying on');
    this.complained = true;
    await Promise.race([pause(RETRY_MS + Math.random() * RETRY_MS), this.stopped]);
    await Promise.race([this.link.whenConnected(PULL_MS), this.stopped]);
  }
}

/** See {@link Bus.removeConsumer}. */
export async function removeDurable(link: Link, durable: string): Promise<void> {
  try {
    await api(link, `CONSUMER.DELETE.${Streams.events.name}.${durable}`);
  } catch (e) {
    if (!(e instanceof ApiFailure && e.errCode === ApiErrors.consumerNotFound)) throw busFailure(e, durable);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The handler decides what such a message is worth.
    return text;
  }
}

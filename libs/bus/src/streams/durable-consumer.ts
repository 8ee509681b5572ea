import { Streams } from '#contracts';
import type { Link } from '../ports/link.js';
import { apiError, ApiErrors, ApiFailure } from '../ports/log-failure.js';
import type { ConsumerConfig, PulledMessage } from '../ports/message-log.js';
import { storageIsWhole } from './storage-is-whole.js';
import { coveringFilter, matches } from './subject-filter.js';
import type { Closable } from '../ports/types.js';

/** After this many refusals a message becomes a dead letter. */
const MAX_DELIVERIES = 5;
/** Who vanished with a message loses it to another replica after this long. */
const ACK_WAIT_MS = 3000;
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
  private readonly running: Promise<void>;
  /** Ends the pull or the pause under way. */
  private readonly stop = new AbortController();
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
    this.stop.abort();
    await this.running;
  }

  private get closed(): boolean {
    return this.stop.signal.aborted || this.link.closed;
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      try {
        if (!this.created) await this.create();
        const { signal } = this.stop;
        const msg = await this.link.messages.pull(Streams.events.name, this.o.durable, { waitMs: PULL_MS, signal });
        this.complained = false;
        if (msg) await this.process(msg);
      } catch (e) {
        await this.recover(e);
      }
    }
  }

  private async create(): Promise<void> {
    await storageIsWhole(this.link);
    await this.link.messages.createConsumer(Streams.events.name, {
      durable_name: this.o.durable,
      ack_policy: 'explicit' as ConsumerConfig['ack_policy'],
      deliver_policy: (this.o.newOnly === true ? 'new' : 'all') as ConsumerConfig['deliver_policy'],
      ...(this.o.oneAtATime === true && { max_ack_pending: 1 }),
      replay_policy: 'instant' as ConsumerConfig['replay_policy'],
      ack_wait: ns(ACK_WAIT_MS),
      // Deliveries are counted here, where a dead letter can be written.
      max_deliver: -1,
      filter_subject: coveringFilter(this.o.filters),
    });
    this.created = true;
  }

  private async process(msg: PulledMessage): Promise<void> {
    const meta = { seq: msg.seq, deliveries: msg.deliveries };
    if (!this.o.filters.some((f) => matches(f, msg.subject))) return msg.ack();
    // Long work is fine as long as its process lives.
    const working = this.link.clock.every(ACK_WAIT_MS / 3, () => msg.working());
    let value: unknown;
    try {
      value = parse(msg.text);
      if (meta.deliveries > MAX_DELIVERIES) throw new Error('its handlers died, or kept it too long');
      await this.o.handle(msg.subject, value, meta);
      msg.ack();
    } catch (e) {
      await this.refuse(msg, value, meta, e);
    } finally {
      working.cancel();
    }
  }

  private async refuse(msg: PulledMessage, value: unknown, meta: Delivery, e: unknown): Promise<void> {
    const facts = { err: e, consumer: this.o.durable, subject: msg.subject, ...meta };
    if (meta.deliveries < MAX_DELIVERIES) {
      this.link.log.warn(facts, 'a message is refused, it comes again');
      return msg.nak(100 * 2 ** meta.deliveries);
    }
    this.link.log.error(facts, 'a message is given up');
    const error = e instanceof Error ? e.message : String(e);
    await this.o.deadLetter({ subject: msg.subject, value, error, ...meta });
    msg.term();
  }

  private async recover(e: unknown): Promise<void> {
    this.created = false;
    if (!this.complained && !this.link.closed)
      this.link.log.warn({ err: e, consumer: this.o.durable }, 'cannot consume, trying on');
    this.complained = true;
    const { clock, random } = this.link;
    const { signal } = this.stop;
    await clock.sleep(RETRY_MS + random.number() * RETRY_MS, { signal });
    await this.link.whenConnected(PULL_MS, signal);
  }
}

/** See {@link Bus.removeConsumer}. */
export async function removeDurable(link: Link, durable: string): Promise<void> {
  try {
    await link.messages.removeConsumer(Streams.events.name, durable);
  } catch (e) {
    if (!(e instanceof ApiFailure && e.errCode === ApiErrors.consumerNotFound)) throw apiError(e, durable);
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

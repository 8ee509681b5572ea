import type { Msg } from '@nats-io/transport-node';
import { MusterError } from '#contracts';
import type { PulledMessage } from '../ports/message-log.js';
import { StoreApi } from '../store-names/store-api.js';
import { systemClock } from '../system/system-clock.js';
import { deliveredAt } from './delivered-at.js';
import { busUnavailable } from './failures.js';
import type { NatsWire } from './nats-wire.js';

const ns = (ms: number): number => ms * 1_000_000;

/** How much later than asked for the server may say that there was nothing, ms. */
const LATE_MS = 1_000;

/** What the server sends in place of a message where there is none. */
const NO_MESSAGES = 404;
const REQUEST_TIMEOUT = 408;

/** See {@link MessageLog.pull}. Stream messages keep their subject, so they need a subscription of their own. */
export async function pullOne(
  wire: NatsWire,
  stream: string,
  durable: string,
  o: { waitMs: number; signal?: AbortSignal },
): Promise<PulledMessage | undefined> {
  if (o.signal?.aborted === true) return undefined;
  if (!wire.connected || wire.closed) throw busUnavailable(durable);
  const msg = await nextMessage(wire, stream, durable, o);
  if (msg === undefined) return undefined;
  const code = msg.headers?.code ?? 0;
  if (code === REQUEST_TIMEOUT || code === NO_MESSAGES) return undefined;
  if (code !== 0)
    throw new MusterError('BUS_UNAVAILABLE', `consumer ${durable}: ${code} ${msg.headers?.description ?? ''}`);
  const at = deliveredAt(msg.reply ?? '');
  if (!at) throw new MusterError('INTERNAL', `consumer ${durable}: not a stream's message`);
  const say = (word: string): void => {
    if (!wire.closed) msg.respond(word);
  };
  return {
    subject: msg.subject,
    text: msg.string(),
    seq: at.streamSeq,
    deliveries: at.deliveries,
    ack: () => say('+ACK'),
    nak: (delayMs) => say(`-NAK ${JSON.stringify({ delay: ns(delayMs) })}`),
    working: () => say('+WPI'),
    term: () => say('+TERM'),
  };
}

function nextMessage(
  wire: NatsWire,
  stream: string,
  durable: string,
  o: { waitMs: number; signal?: AbortSignal },
): Promise<Msg | undefined> {
  const inbox = wire.inbox();
  return new Promise((resolve, reject) => {
    const sub = wire.nc.subscribe(inbox, { max: 1, callback: (err, m) => end(err, m) });
    const late = new MusterError('TIMEOUT', `consumer ${durable}: the server does not answer`);
    const timer = systemClock.after(o.waitMs + LATE_MS, () => end(late));
    const off = wire.onStatus(() => end(busUnavailable(durable)));
    const abort = (): void => end(null);
    const end = (err: Error | null, m?: Msg): void => {
      timer.cancel();
      off();
      o.signal?.removeEventListener('abort', abort);
      if (!sub.isClosed() && !wire.closed) sub.unsubscribe();
      if (err) reject(err);
      else resolve(m);
    };
    o.signal?.addEventListener('abort', abort, { once: true });
    const request = JSON.stringify({ batch: 1, expires: ns(o.waitMs) });
    wire.nc.publish(`${StoreApi}.CONSUMER.MSG.NEXT.${stream}.${durable}`, request, { reply: inbox });
  });
}

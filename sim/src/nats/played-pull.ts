import { MusterError, type ErrorCode } from '#contracts';
import type { PulledMessage } from '#bus/ports/message-log.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import type { PlayedConnection } from './played-connection.js';
import type { PlayedDurable, PullRequest } from './played-durable.js';
import { textOf, type PlayedMessage } from './played-stream.js';

/** How much later than asked for the server may say that there was nothing, ms. */
const LATE_MS = 1_000;

/** See {@link MessageLog.pull}. */
export function pullOne(
  client: PlayedConnection,
  stream: string,
  durable: string,
  o: { waitMs: number; signal?: AbortSignal },
): Promise<PulledMessage | undefined> {
  const { server } = client;
  const { signal } = o;
  const what = `pull ${stream} ${durable}`;
  const failure = (code: ErrorCode, why: string): MusterError =>
    new MusterError(code, `consumer ${durable}: ${why}`, { stream, durable });
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return resolve(undefined);
    if (!client.connected || client.closed) return reject(failure('BUS_UNAVAILABLE', 'no connection to NATS'));
    let over = false;
    const end = (): boolean => {
      if (over) return false;
      over = true;
      timer.cancel();
      off();
      signal?.removeEventListener('abort', giveUp);
      client.forgetPull(request);
      return true;
    };
    const none = (): void => void (end() && resolve(undefined));
    const fail = (error: MusterError): void => void (end() && reject(error));
    const request: PullRequest = {
      open: true,
      // Where it comes too late, it is out with nobody until its time is over.
      deliver: (consumer, m, deliveries) =>
        client.inOrder(what, () => void (end() && resolve(pulled(client, consumer, m, deliveries)))),
      refuse: (why) => client.inOrder(what, () => fail(failure('BUS_UNAVAILABLE', why))),
    };
    const giveUp = (): void => {
      none();
      client.send(`un${what}`, () => {
        request.open = false;
      });
    };
    const timer = client.clock.after(o.waitMs + LATE_MS, () => fail(failure('TIMEOUT', 'the server does not answer')));
    const off = client.onStatus(() => fail(failure('BUS_UNAVAILABLE', 'no connection to NATS')));
    signal?.addEventListener('abort', giveUp, { once: true });
    client.addPull(request);
    if (server.faults.fate(client.name, what) === 'lost') return;
    client.send(what, () => {
      const consumer = server.findDurable(stream, durable);
      if (!consumer) {
        if (server.version !== '2.9.10') request.refuse('503 No Responders');
        return;
      }
      consumer.pull(request);
      server.time.schedule(o.waitMs * NS_PER_MS, `${what} over`, () => {
        if (!request.open) return;
        request.open = false;
        client.inOrder(what, none);
      });
    });
  });
}

function pulled(
  client: PlayedConnection,
  consumer: PlayedDurable,
  m: PlayedMessage,
  deliveries: number,
): PulledMessage {
  const say = (word: string, act: () => void): void => {
    const what = `${word} ${consumer.config.durable_name} ${m.seq}`;
    const fate = client.server.faults.fate(client.name, what);
    // Nobody is told whether a word has arrived, and the second of two changes nothing.
    if (fate !== 'lost' && fate !== 'unanswered') client.send(what, act);
  };
  return {
    subject: m.subject,
    text: textOf(m),
    seq: m.seq,
    deliveries,
    ack: () => say('ack', () => consumer.ack(m.seq)),
    nak: (delayMs) => say('nak', () => consumer.nak(m.seq, delayMs)),
    working: () => say('working', () => consumer.working(m.seq)),
    term: () => say('term', () => consumer.ack(m.seq)),
  };
}

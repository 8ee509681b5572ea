import {
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { Timer } from '#contracts';
import { systemClock } from '../system/system-clock.js';
import { busFailure, busUnavailable } from './failures.js';

interface Waiting {
  subject: string;
  resolve(msg: Msg): void;
  reject(e: unknown): void;
  timer: Timer;
}

/** Header with the reply subject as it is in the asker's account. */
export const ASKERS_REPLY = 'Muster-Reply';

/** What the server sends in place of an answer where nobody listens. */
const NO_RESPONDERS = 503;

export interface SendOptions {
  timeoutMs: number;
  headers?: MsgHdrs;
  /** In place of other headers: the reply subject, for who answers. @default false */
  namesReply?: boolean;
}

function namingReply(reply: string): MsgHdrs {
  const h = headers();
  h.set(ASKERS_REPLY, reply);
  return h;
}

/**
 * Requests over one connection, whose answers all come in by one subscription. The client's own makes an Error, with
 * its stack, and two races of promises for each request that succeeds: half of the time that a request takes here.
 */
export class Requests {
  private readonly waiting = new Map<string, Waiting>();
  private sub: Subscription | undefined;
  private count = 0;

  /** @param inbox a subject of our own, under which the answers come */
  constructor(
    private readonly nc: NatsConnection,
    private readonly inbox: string,
    /** The connection's account is its own: others see other reply subjects. */
    private readonly apart: boolean,
  ) {}

  /** @throws MusterError TIMEOUT, NO_RESPONDER, FORBIDDEN, BUS_UNAVAILABLE */
  send(subject: string, payload: Uint8Array | string, o: SendOptions): Promise<Msg> {
    return new Promise((resolve, reject) => {
      const token = (this.count++).toString(36);
      const late = (): void => this.take(token)?.reject(busFailure(new TimeoutError(), subject));
      // Where this process stood still itself, the answer may lie unread in its socket: timers come before sockets.
      const timer = systemClock.after(o.timeoutMs, () => systemClock.soon(late));
      this.waiting.set(token, { subject, resolve, reject, timer });
      try {
        this.sub ??= this.listen();
        const reply = `${this.inbox}.${token}`;
        const given = o.namesReply === true && this.apart ? namingReply(reply) : o.headers;
        this.nc.publish(subject, payload, { reply, ...(given && { headers: given }) });
      } catch (e) {
        this.take(token)?.reject(busFailure(e, subject));
      }
    });
  }

  /** The server's word that something may not be published or heard: it names the subject, not the message. */
  refused(e: Error): void {
    if (!(e instanceof PermissionViolationError)) return;
    const ours = e.operation === 'subscription' && e.subject === `${this.inbox}.*`;
    for (const [token, w] of this.waiting)
      if (ours || (e.operation === 'publish' && e.subject === w.subject))
        this.take(token)?.reject(busFailure(e, w.subject));
  }

  /** The connection broke: whether they were carried out is not known. */
  broken(): void {
    for (const [token, w] of this.waiting) this.take(token)?.reject(busUnavailable(w.subject));
  }

  private listen(): Subscription {
    const prefix = this.inbox.length + 1;
    return this.nc.subscribe(`${this.inbox}.*`, {
      callback: (err, msg) => {
        // The subscription is over with it.
        if (err) this.sub = undefined;
        else this.answer(msg.subject.slice(prefix), msg);
      },
    });
  }

  /** One that nobody waits for any more comes too late. */
  private answer(token: string, msg: Msg): void {
    const w = this.take(token);
    if (!w) return;
    if (msg.data.length === 0 && msg.headers?.code === NO_RESPONDERS) {
      const cause = new NoRespondersError(w.subject);
      w.reject(busFailure(new RequestError(cause.message, { cause }), w.subject));
    } else w.resolve(msg);
  }

  private take(token: string): Waiting | undefined {
    const w = this.waiting.get(token);
    if (!w) return undefined;
    this.waiting.delete(token);
    w.timer.cancel();
    return w;
  }
}

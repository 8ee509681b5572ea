import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import {
  connect,
  createInbox,
  type ConnectionOptions,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/transport-node';
import { inboxPrefix, MusterError, type Clock, type Random } from '#contracts';
import { proofOf } from '#contracts/keys/nkey.js';
import { busUnavailable } from './failures.js';
import { Requests } from '../rpc/requests.js';
import { systemClock } from '../system/system-clock.js';
import { systemRandom } from '../system/system-random.js';
import { silentLog, type BusCredentials, type BusLog, type BusOptions } from '../types.js';

/**
 * Client settings of every connection. The library's defaults notice a silent cut after four minutes; these after two
 * unanswered pings, 1 s apart, and they come back 250 ms later, for ever.
 */
export function natsOptions(o: { name: string; servers: string[]; credentials?: BusCredentials }): ConnectionOptions {
  return {
    name: o.name,
    servers: o.servers,
    pingInterval: 1000,
    maxPingOut: 2,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    maxReconnectAttempts: -1,
    // Two stacks a request, taken in case that it fails, cost more than all the rest of it.
    noAsyncTraces: true,
    // A server that restarts with a half-written configuration must not end us for good.
    ignoreAuthErrorAbort: true,
    // One attempt, which a busy machine may need seconds for.
    timeout: 4000,
    ...(o.credentials && {
      authenticator: proofOf(o.credentials),
      inboxPrefix: inboxPrefix(o.credentials.user),
    }),
  };
}

type StatusListener = (s: 'connected' | 'disconnected') => void;

/** One NATS connection that knows whether it stands, and whose requests fail at once when it breaks. */
export class Link {
  private readonly listeners = new Set<StatusListener>();
  private readonly requests: Requests;
  private up = true;
  private closing = false;

  constructor(
    readonly nc: NatsConnection,
    readonly name: string,
    readonly log: BusLog,
    /** Absent: the client's common `_INBOX`. */
    readonly user?: string,
    readonly clock: Clock = systemClock,
    readonly random: Random = systemRandom,
  ) {
    this.requests = new Requests(nc, this.inbox());
    void this.followStatus();
  }

  get connected(): boolean {
    return this.up;
  }

  /** A subject of our own for answers. */
  inbox(): string {
    return createInbox(this.user === undefined ? undefined : inboxPrefix(this.user));
  }

  get closed(): boolean {
    return this.closing || this.nc.isClosed();
  }

  onStatus(fn: StatusListener): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  /** Resolves to true once the connection stands, to false when `ms` passed or it was closed for good. */
  whenConnected(ms: number): Promise<boolean> {
    if (this.closed) return Promise.resolve(false);
    if (this.up) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (ok: boolean): void => {
        clearTimeout(timer);
        off();
        resolve(ok);
      };
      const timer = setTimeout(() => end(false), ms);
      const off = this.onStatus((s) => end(s === 'connected'));
    });
  }

  /**
   * One request, one answer. TIMEOUT, NO_RESPONDER, FORBIDDEN; BUS_UNAVAILABLE at once when there is no connection or
   * it breaks while waiting: the other side may have carried the request out all the same.
   */
  async request(
    subject: string,
    payload: Uint8Array | string,
    o: { timeoutMs: number; headers?: MsgHdrs },
  ): Promise<Msg> {
    if (!this.up || this.closed) throw busUnavailable(subject);
    return this.requests.send(subject, payload, o);
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    if (this.nc.isClosed()) return;
    // Draining needs a server that answers; without one there is nothing left to deliver.
    if (this.up) await Promise.race([this.nc.drain(), pause(1000, undefined, { ref: false })]).catch(() => undefined);
    await this.nc.close();
    this.requests.broken();
  }

  private async followStatus(): Promise<void> {
    for await (const s of this.nc.status()) {
      if (s.type === 'disconnect' || s.type === 'staleConnection') this.turn(false);
      else if (s.type === 'reconnect') this.turn(true);
      else if (s.type === 'error') this.refused(s.error);
      else if (s.type === 'close') this.turn(false);
    }
  }

  private refused(err: Error): void {
    this.log.warn({ err }, 'NATS refused something');
    this.requests.refused(err);
  }

  private turn(up: boolean): void {
    if (this.up === up) return;
    this.up = up;
    if (!up) this.requests.broken();
    if (!this.closing) {
      if (up) this.log.info({ server: this.nc.getServer() }, 'NATS connection is back');
      else this.log.warn({}, 'NATS connection lost');
    }
    for (const fn of [...this.listeners]) fn(up ? 'connected' : 'disconnected');
  }
}

/** BUS_UNAVAILABLE when no server answered in time; UNAUTHORIZED when one did and refused the user. */
export async function connectLink(o: BusOptions): Promise<Link> {
  const limit = o.connectTimeoutMs ?? 10_000;
  const deadline = performance.now() + limit;
  for (;;) {
    try {
      return new Link(await connect(natsOptions(o)), o.name, o.log ?? silentLog, o.credentials?.user);
    } catch (e) {
      const text = e instanceof Error ? e.message : String(e);
      // "Authentication Timeout" is no refusal: one of the two was too busy to sign or to check in time.
      if (/authorization violation/i.test(text))
        throw new MusterError(
          'UNAUTHORIZED',
          `NATS at ${o.servers.join(', ')} refuses user ${o.credentials?.user ?? '(none)'}`,
          {},
          { cause: e },
        );
      if (performance.now() + 250 >= deadline)
        throw new MusterError(
          'BUS_UNAVAILABLE',
          `no NATS server answered at ${o.servers.join(', ')} within ${limit / 1000} s (${text})`,
          {},
          { cause: e },
        );
      await pause(250);
    }
  }
}

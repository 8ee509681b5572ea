import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { inboxPrefix } from '#contracts';
import type {
  RequestOptions,
  ServerInfo,
  SubscribeOptions,
  Wire,
  WireMessage,
  WireStatus,
  WireSubscription,
} from '../ports/wire.js';
import { systemClock } from '../system/system-clock.js';
import type { BusLog } from '../ports/types.js';
import { busFailure, busUnavailable } from './failures.js';
import { ASKERS_REPLY, Requests, type SendOptions } from './requests.js';

/** One NATS connection that knows whether it stands, and whose requests fail at once when it breaks. */
export class NatsWire implements Wire {
  private readonly listeners = new Set<(s: WireStatus) => void>();
  private readonly requests: Requests;
  private up = true;
  private closing = false;

  constructor(
    readonly nc: NatsConnection,
    private readonly log: BusLog,
    /** Absent: the client's common `_INBOX`. */
    private readonly user?: string,
    /** Its account is its own, apart from that of the streams. */
    apart = false,
  ) {
    this.requests = new Requests(nc, this.inbox(), apart);
    void this.followStatus();
  }

  get connected(): boolean {
    return this.up;
  }

  get closed(): boolean {
    return this.closing || this.nc.isClosed();
  }

  get serverInfo(): ServerInfo | undefined {
    const { info } = this.nc;
    if (!info) return undefined;
    return {
      name: info.server_name,
      version: info.version,
      ...(info.cluster !== undefined && { cluster: info.cluster }),
      connectUrls: info.connect_urls ?? [],
    };
  }

  /** A subject of our own for answers. */
  inbox(): string {
    return createInbox(this.user === undefined ? undefined : inboxPrefix(this.user));
  }

  onStatus(fn: (s: WireStatus) => void): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  async request(subject: string, text: string, o: RequestOptions): Promise<string> {
    return (await this.send(subject, text, o)).string();
  }

  /** As {@link request}, with bytes and headers both ways. */
  send(subject: string, payload: Uint8Array | string, o: SendOptions): Promise<Msg> {
    if (!this.up || this.closed) return Promise.reject(busUnavailable(subject));
    return this.requests.send(subject, payload, o);
  }

  publish(subject: string, text: string): void {
    if (this.up && !this.closed) this.nc.publish(subject, text);
  }

  subscribe(subject: string, o: SubscribeOptions): WireSubscription {
    const sub = this.nc.subscribe(subject, {
      ...(o.queue !== undefined && { queue: o.queue }),
      callback: (err, msg) => (err ? o.onRefused(err) : o.onMessage(new HeardMessage(msg, this.nc))),
    });
    const over = (): boolean => sub.isClosed() || this.closed;
    return {
      close: () => {
        if (!over()) sub.unsubscribe();
      },
      drain: async () => {
        if (over()) return;
        // Without a connection nothing more comes, and there is nobody to be told.
        if (this.up) await sub.drain();
        else sub.unsubscribe();
      },
    };
  }

  /** A connection that breaks meanwhile makes all subscriptions known anew on the next one, which is then asked. */
  async flush(): Promise<void> {
    for (;;)
      try {
        await this.nc.flush();
        return;
      } catch (e) {
        if (this.nc.isClosed() || !(e instanceof Error) || e.message !== 'connection disconnected')
          throw busFailure(e, 'flush');
      }
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    if (this.nc.isClosed()) return;
    // Draining needs a server that answers; without one there is nothing left to deliver.
    const limit = systemClock.sleep(1000, { background: true });
    if (this.up) await Promise.race([this.nc.drain(), limit]).catch(() => undefined);
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

class HeardMessage implements WireMessage {
  readonly reply?: string;
  readonly askersReply?: string;

  constructor(
    private readonly msg: Msg,
    private readonly nc: NatsConnection,
  ) {
    if (msg.reply) this.reply = msg.reply;
    const askers = msg.headers?.get(ASKERS_REPLY);
    if (askers) this.askersReply = askers;
  }

  get subject(): string {
    return this.msg.subject;
  }

  get text(): string {
    return this.msg.string();
  }

  /** Also while the connection is being closed: what was asked before is answered. */
  respond(text: string): void {
    if (this.reply !== undefined && !this.nc.isClosed()) this.msg.respond(text);
  }
}

import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { NatsContext, ServerNats, type MessageHandler } from '@nestjs/microservices';
import { isInbox } from '#contracts';

/** Requests in work may take this long after the service was told to stop, ms. */
const GRACE_MS = 5000;

interface Packet {
  err?: unknown;
  isDisposed?: boolean;
}

/**
 * Nest's NATS server on the connection that the service has anyway. Nest's own closes that connection, and waits a fixed
 * time for requests in work; this one waits for the requests, and leaves the connection to who opened it: leases and
 * worker records are given back after it.
 */
export class RpcServer extends ServerNats {
  private readonly subs: Subscription[] = [];
  private readonly inWork = new Set<object>();
  private idle: () => void = () => undefined;

  constructor(
    private readonly nc: NatsConnection,
    private readonly group: string,
  ) {
    super({ queue: group });
  }

  override async createNatsClient(): Promise<NatsConnection> {
    return Promise.resolve(this.nc);
  }

  /** The bus tells about the connection. */
  override async handleStatusUpdates(): Promise<void> {
    await Promise.resolve();
  }

  override bindEvents(client: NatsConnection): void {
    for (const subject of this.messageHandlers.keys()) {
      const callback = this.getMessageHandler(subject) as (err: Error | null, msg: Msg) => Promise<never>;
      const answerable = (err: Error | null, msg: Msg): void => {
        if (!err && msg.reply && !isInbox(msg.reply)) this.logger.warn(`${subject}: its answer is to go to no inbox`);
        else void callback(err, msg);
      };
      this.subs.push(client.subscribe(subject, { queue: this.group, callback: answerable }));
    }
  }

  /** Nest's own takes each pattern for JSON first: one thrown SyntaxError a request. */
  override getHandlerByPattern(subject: string): MessageHandler | null {
    return this.messageHandlers.get(subject) ?? null;
  }

  override getPublisher(msg: Msg, id: string, context: NatsContext): (packet: Packet) => unknown {
    const publish = super.getPublisher(msg, id, context) as (packet: Packet) => unknown;
    const request = {};
    this.inWork.add(request);
    return (packet) => {
      if (packet.isDisposed || packet.err !== undefined) this.inWork.delete(request);
      if (this.inWork.size === 0) this.idle();
      return this.nc.isClosed() ? undefined : publish(packet);
    };
  }

  /** What the server has sent us before it knows that we take no more is answered like every other request. */
  override async close(): Promise<void> {
    const open = this.subs.filter((sub) => !this.nc.isClosed() && !sub.isClosed());
    // Without a connection nothing more comes, and there is nobody to be told.
    const drained = Promise.allSettled(open.map((sub) => sub.drain()));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GRACE_MS);
      const end = (): void => {
        if (this.inWork.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      void drained.then(() => {
        this.idle = end;
        end();
      });
    });
  }
}

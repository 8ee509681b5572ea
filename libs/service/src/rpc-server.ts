import { NatsContext, Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';
import { accountChanges, writeAnswer, type Wire, type WireMessage, type WireSubscription } from '#bus';
import { isInbox, type Clock } from '#contracts';

/** Requests in work may take this long after the service was told to stop, ms. */
const GRACE_MS = 5000;

interface Packet {
  response?: unknown;
  err?: unknown;
  isDisposed?: boolean;
}

/**
 * Nest's NATS server on the wire that the service has anyway. Closing it waits for the requests in work, and leaves the
 * connection to who opened it: leases and worker records are given back after it.
 */
export class RpcServer extends Server implements CustomTransportStrategy {
  private readonly subs: WireSubscription[] = [];
  private readonly inWork = new Set<object>();
  private idle: () => void = () => undefined;

  /** @param group one of all servers that name it gets each request */
  constructor(
    private readonly wire: Wire,
    private readonly clock: Clock,
    private readonly group: string,
  ) {
    super();
    this.initializeDeserializer({});
  }

  listen(callback: () => void): void {
    for (const subject of this.messageHandlers.keys())
      this.subs.push(
        this.wire.subscribe(subject, {
          queue: this.group,
          onRefused: (error) => this.logger.error(error),
          onMessage: (m) => {
            if (m.reply !== undefined && !isInbox(m.reply))
              this.logger.warn(`${subject}: its answer is to go to no inbox`);
            else this.carryOut(subject, m).catch((e: unknown) => this.logger.error(e));
          },
        }),
      );
    callback();
  }

  /** Nest's own takes each pattern for JSON first: one thrown SyntaxError a request. */
  override getHandlerByPattern(subject: string): MessageHandler | null {
    return this.messageHandlers.get(subject) ?? null;
  }

  /** What the server has sent us before it knows that we take no more is answered like every other request. */
  async close(): Promise<void> {
    const drained = Promise.allSettled(this.subs.map((sub) => sub.drain()));
    await new Promise<void>((resolve) => {
      const timer = this.clock.after(GRACE_MS, resolve);
      const end = (): void => {
        if (this.inWork.size > 0) return;
        timer.cancel();
        resolve();
      };
      void drained.then(() => {
        this.idle = end;
        end();
      });
    });
  }

  /** The bus tells about the connection. */
  on(): never {
    throw new Error('ask the bus about its connection');
  }

  unwrap<T>(): T {
    return this.wire as T;
  }

  private async carryOut(subject: string, m: WireMessage): Promise<void> {
    const context = new NatsContext([m.subject, undefined]);
    const envelope = JSON.parse(m.text) as { trailing?: unknown } | null;
    const message = await this.deserializer.deserialize(envelope, { channel: subject, replyTo: m.reply });
    if (!('id' in message) || message.id === undefined) return this.handleEvent(subject, message, context);
    const { id } = message;
    const { ended: changes } = accountChanges();
    const request = {};
    this.inWork.add(request);
    const ended = (): void => {
      this.inWork.delete(request);
      if (this.inWork.size === 0) this.idle();
    };
    const answer = (packet: Packet): void => {
      // Over also where it cannot be put into words: the stop must not wait for it.
      if (packet.isDisposed === true || packet.err !== undefined) ended();
      const text = writeAnswer({ ...packet, id }, envelope?.trailing === true);
      m.respond(text);
      // A revocation meanwhile has taken the way of the answer away, perhaps its own.
      if (accountChanges().begun !== changes && m.askersReply !== undefined && isInbox(m.askersReply))
        this.wire.publish(m.askersReply, text);
    };
    const produce = async (): Promise<Observable<unknown>> => {
      try {
        return this.transformToObservable(await this.messageHandlers.get(subject)?.(message.data, context));
      } catch (e) {
        return throwError(() => e);
      }
    };
    this.handleRequest(context, produce, answer);
  }
}

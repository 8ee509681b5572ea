import type { ServerInfo, SubscribeOptions, Wire, WireStatus, WireSubscription } from '#bus/ports/wire.js';
import type { PlayedConnection } from './played-connection.js';
import { noResponder, type Interest } from './played-server.js';

/** Longer than any answer takes; a connection that breaks ends it before. */
const FLUSH_MS = 60_000;

/** {@link Wire} over the played server. */
export class PlayedWire implements Wire {
  constructor(private readonly client: PlayedConnection) {}

  get connected(): boolean {
    return this.client.connected;
  }

  get closed(): boolean {
    return this.client.closed;
  }

  get serverInfo(): ServerInfo {
    return this.client.server.info;
  }

  onStatus(fn: (status: WireStatus) => void): () => void {
    return this.client.onStatus(fn);
  }

  request(subject: string, text: string, o: { timeoutMs: number }): Promise<string> {
    return this.client.request(subject, text, o.timeoutMs, () => noResponder(subject));
  }

  publish(subject: string, text: string): void {
    this.client.send(subject, () => void this.client.server.publish(subject, text));
  }

  subscribe(subject: string, o: SubscribeOptions): WireSubscription {
    const { client } = this;
    let open = true;
    const interest: Interest = {
      subject,
      queue: o.queue,
      deliver: (heard, text, reply) =>
        client.inOrder(heard, () => {
          if (open) o.onMessage(message(client, heard, text, reply));
        }),
    };
    client.addInterest(interest);
    return {
      close: () => {
        open = false;
        client.removeInterest(interest);
      },
      drain: () =>
        new Promise((resolve) => {
          client.removeInterest(interest, () => {
            open = false;
            resolve();
          });
        }),
    };
  }

  /** A connection that breaks meanwhile makes all subscriptions known anew on the next one, which is then asked. */
  async flush(): Promise<void> {
    for (;;) {
      await this.client.whenConnected();
      try {
        await this.client.call('flush', FLUSH_MS, () => undefined);
        return;
      } catch (e) {
        if (this.client.closed || this.client.connected) throw e;
      }
    }
  }

  /** Drains first: what the server has sent before it knew is still heard. */
  async close(): Promise<void> {
    if (this.client.closed) return;
    if (this.client.connected) await Promise.allSettled([this.client.call('drain', DRAIN_MS, () => undefined)]);
    this.client.close();
  }
}

/** As the real one, which does not wait longer for a silent server. */
const DRAIN_MS = 1000;

const message = (client: PlayedConnection, subject: string, text: string, reply: string | undefined) => ({
  subject,
  text,
  ...(reply !== undefined && { reply }),
  respond: (answer: string): void => {
    if (reply !== undefined) client.send(reply, () => void client.server.publish(reply, answer));
  },
});

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay between one client and a server, to do to its connection what networks do. */
export interface TestProxy {
  url: string;
  /** Bytes of the server are held back: what the client asks is carried out, and it does not hear of it. */
  mute(): void;
  /** Bytes of both sides are held back; `heal` delivers them late. */
  freeze(): void;
  heal(): void;
  /** Breaks every connection; what was held back is lost. New ones are relayed, frozen or muted as before. */
  cut(): void;
  /** After so many more pieces of what the client sends, cuts and takes no new connection. Resolves then. */
  dieAfter(pieces: number): Promise<void>;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<TestProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let muted = false;
  let frozen = false;
  let left = Infinity;
  let died: (() => void) | undefined;
  const apply = (): void => {
    for (const { client, server } of pairs) {
      if (frozen) client.pause();
      else client.resume();
      if (frozen || muted) server.pause();
      else server.resume();
    }
  };
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname);
    const pair = { client, server };
    pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (bytes) => {
        if (from === client && left-- <= 0) die();
        else to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
    apply();
  });
  const die = (): void => {
    listener.close();
    cut();
    died?.();
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = (): void => {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
  };
  return {
    url: `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    mute() {
      muted = true;
      apply();
    },
    freeze() {
      frozen = true;
      apply();
    },
    heal() {
      muted = false;
      frozen = false;
      apply();
    },
    cut,
    dieAfter(pieces) {
      left = pieces;
      return new Promise((resolve) => (died = resolve));
    },
    async close() {
      cut();
      if (!listener.listening) return;
      listener.close();
      await once(listener, 'close');
    },
  };
}

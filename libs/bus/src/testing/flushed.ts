import type { NatsConnection } from '@nats-io/transport-node';

/**
 * Resolves when the server knows every subscription of this connection. On a machine that is busy with others it may
 * break meanwhile: then they are made known anew on the next one, and it is asked again.
 */
export async function flushed(nc: NatsConnection): Promise<void> {
  for (;;)
    try {
      await nc.flush();
      return;
    } catch (e) {
      if (nc.isClosed() || !(e instanceof Error) || e.message !== 'connection disconnected') throw e;
    }
}

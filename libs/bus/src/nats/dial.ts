import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';

/**
 * A first connection. A server of a cluster names the others also to a client that it refuses: the library would go round
 * them for ever, and never say so. So the servers that were named are asked first, and no other.
 * @throws Error the library's own, of the server that was asked last
 */
export async function dial(options: ConnectionOptions): Promise<NatsConnection> {
  const first = await connect({ ...options, ignoreClusterUpdates: true });
  if (first.info?.cluster === undefined) return first;
  await first.close();
  return connect(options);
}

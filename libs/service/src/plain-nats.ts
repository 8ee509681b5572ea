import { beyondLoopback } from '#contracts/keys/nats-tls.js';
import type { NatsConfig } from './config.js';

/** Why a service does not connect: it would speak without TLS over a network, and nobody has said that it may. */
export function refusedPlain(
  nats: Pick<NatsConfig, 'servers' | 'plain'>,
  credentials: { ca?: string } | undefined,
): string | undefined {
  if (credentials?.ca !== undefined || nats.plain) return undefined;
  const open = beyondLoopback(nats.servers);
  return open.length === 0
    ? undefined
    : `NATS at ${open.join(', ')} would be spoken to without TLS: "muster tls enable" makes its certificate, or "nats.plain: true" lets it be so (docs/security.md)`;
}

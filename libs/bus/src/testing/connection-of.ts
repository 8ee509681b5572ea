import type { NatsConnection } from '@nats-io/transport-node';
import type { Bus } from '../bus/bus.js';
import { NatsWire } from '../nats/nats-wire.js';

/** The NATS client under a bus, for a spec that speaks to the server itself, or breaks the connection. */
export function connectionOf(bus: Bus): NatsConnection {
  if (!(bus.wire instanceof NatsWire)) throw new Error('this bus stands on no NATS connection');
  return bus.wire.nc;
}

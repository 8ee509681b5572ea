import type { ConnectionOptions } from '@nats-io/transport-node';
import { inboxPrefix, MusterError, ServiceNames, type ServiceName } from '#contracts';
import { natsTls, tlsFault } from '#contracts/keys/nats-tls.js';
import { proofOf } from '#contracts/keys/nkey.js';
import type { BusPorts } from '../ports/link.js';
import { systemClock } from '../system/system-clock.js';
import { systemRandom } from '../system/system-random.js';
import { silentLog, type BusCredentials, type BusOptions } from '../ports/types.js';
import { dial } from './dial.js';
import { NatsLog } from './nats-log.js';
import { NatsWire } from './nats-wire.js';

/**
 * Client settings of every connection. The library's defaults notice a silent cut after four minutes; these after two
 * unanswered pings, 1 s apart, and they come back 250 ms later, for ever.
 */
export function natsOptions(o: {
  name: string;
  servers: string[];
  credentials?: BusCredentials;
  /** As of credentials, for who has none of a file. */
  ca?: string;
}): ConnectionOptions {
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
    ...natsTls(o.credentials?.ca ?? o.ca, o.servers),
    ...(o.credentials && {
      authenticator: proofOf(o.credentials),
      inboxPrefix: inboxPrefix(o.credentials.user),
    }),
  };
}

/** The ports of a real process, on one connection. Throws as {@link connectWire}. */
export async function connectPorts(o: BusOptions): Promise<BusPorts> {
  const wire = await connectWire(o);
  return {
    name: o.name,
    wire,
    messages: new NatsLog(wire, apartService(o.credentials)),
    clock: systemClock,
    random: systemRandom,
    log: o.log ?? silentLog,
    ...(o.codec && { codec: o.codec }),
    ...(o.seal && { seal: o.seal }),
  };
}

const apartService = (credentials: BusCredentials | undefined): ServiceName | undefined =>
  credentials?.ownAccount === true ? ServiceNames.find((service) => service === credentials.user) : undefined;

/** BUS_UNAVAILABLE when no server answered in time; UNAUTHORIZED when one did and refused the user, or is not to be trusted. */
async function connectWire(o: BusOptions): Promise<NatsWire> {
  const limit = o.connectTimeoutMs ?? 10_000;
  const deadline = systemClock.monotonicMs() + limit;
  for (;;) {
    try {
      return new NatsWire(
        await dial(natsOptions(o)),
        o.log ?? silentLog,
        o.credentials?.user,
        o.credentials?.ownAccount === true,
      );
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
      const fault = tlsFault(e, o.credentials?.ca);
      if (fault !== undefined)
        throw new MusterError('UNAUTHORIZED', `NATS at ${o.servers.join(', ')}: ${fault}`, {}, { cause: e });
      if (systemClock.monotonicMs() + 250 >= deadline)
        throw new MusterError(
          'BUS_UNAVAILABLE',
          `no NATS server answered at ${o.servers.join(', ')} within ${limit / 1000} s (${text})`,
          {},
          { cause: e },
        );
      await systemClock.sleep(250);
    }
  }
}

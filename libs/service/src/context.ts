import { Global, Injectable, Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { askServers, connectBus, readCredentials, serversRefusal, type Bus } from '#bus';
import { MusterError, type Clock, type Random, type ServiceName } from '#contracts';
import { loadConfig, type ServiceConfig } from './config.js';
import { createLogger } from './logger.js';
import { refusedPlain } from './plain-nats.js';
import { recordSeal } from './record-seal.js';
import { ServiceMetrics } from './metrics/service-metrics.js';

/** What every service has; injected by its class. */
@Injectable()
export class ServiceContext {
  /** What this process counts of itself. */
  readonly metrics: ServiceMetrics;

  constructor(
    readonly config: ServiceConfig,
    readonly bus: Bus,
    readonly log: Logger,
    readonly service: ServiceName,
  ) {
    this.metrics = new ServiceMetrics(bus, service);
  }

  /** This process's own: the bus's. */
  get clock(): Clock {
    return this.bus.clock;
  }

  /** PEM: the CA of the NATS servers' certificates, which agents are given; undefined where there is no TLS. */
  get natsAuthority(): string | undefined {
    const { credentials } = this.config;
    return credentials === undefined ? undefined : readCredentials(credentials).ca;
  }

  /** Never for a secret; see {@link Random}. */
  get random(): Random {
    return this.bus.random;
  }
}

@Global()
@Module({})
class ContextModule {}

/** Makes the context injectable everywhere below. */
export const contextModule = (context: ServiceContext): DynamicModule => ({
  module: ContextModule,
  providers: [{ provide: ServiceContext, useValue: context }],
  exports: [ServiceContext],
});

/** Configuration, log and bus. CONFIG_INVALID, also for what NATS is or is not; BUS_UNAVAILABLE, UNAUTHORIZED. */
export async function openContext(service: ServiceName, given?: ServiceConfig): Promise<ServiceContext> {
  const config = given ?? loadConfig(service);
  const credentials = config.credentials === undefined ? undefined : readCredentials(config.credentials);
  const refusal = refusedPlain(config.nats, credentials);
  if (refusal !== undefined) throw new MusterError('CONFIG_INVALID', refusal);
  const log = createLogger(service, config);
  const who = { name: config.instance, servers: config.nats.servers, ...(credentials && { credentials }) };
  if (credentials !== undefined && service !== 'inventory' && credentials.ownAccount !== true)
    log.warn(
      { user: credentials.user },
      'its NATS user shares the account of the records, as an earlier muster init made it: run "muster init" with --separate-services',
    );
  const seal = recordSeal(service, config);
  const bus = await connectBus({ ...who, log, ...(seal && { seal }) });
  try {
    const { servers, silent } = await askServers(bus, who);
    const refusal = serversRefusal(servers, config.replicas);
    if (refusal !== undefined) throw new MusterError('CONFIG_INVALID', refusal);
    for (const { address, reason } of silent) log.warn({ address, reason }, 'a NATS server does not answer');
  } catch (e) {
    await bus.close();
    throw e;
  }
  return new ServiceContext(config, bus, log, service);
}

import { Global, Injectable, Module, type DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import { connectBus, readCredentials, type Bus } from '#bus';
import type { Clock, Random, ServiceName } from '#contracts';
import { loadConfig, type ServiceConfig } from './config.js';
import { createLogger } from './logger.js';

/** What every service has; injected by its class. */
@Injectable()
export class ServiceContext {
  constructor(
    readonly config: ServiceConfig,
    readonly bus: Bus,
    readonly log: Logger,
    readonly service: ServiceName,
  ) {}

  /** This process's own: the bus's. */
  get clock(): Clock {
    return this.bus.clock;
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

/** Configuration, log and bus. CONFIG_INVALID, BUS_UNAVAILABLE, UNAUTHORIZED. */
export async function openContext(service: ServiceName, given?: ServiceConfig): Promise<ServiceContext> {
  const config = given ?? loadConfig(service);
  const credentials = config.credentials === undefined ? undefined : readCredentials(config.credentials);
  const log = createLogger(service, config);
  const bus = await connectBus({
    name: config.instance,
    servers: config.nats.servers,
    log,
    ...(credentials && { credentials }),
  });
  return new ServiceContext(config, bus, log, service);
}

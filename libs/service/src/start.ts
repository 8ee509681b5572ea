import 'reflect-metadata';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import type { Stalled } from '#bus';
import type { ServiceName } from '#contracts';
import type { ServiceConfig } from './config.js';
import { contextModule, openContext, type ServiceContext } from './context.js';
import { NestLog } from './logger.js';
import { serveMetrics, type MetricsServer } from './metrics/metrics-server.js';
import { RpcErrors } from './rpc.js';
import { RpcServer } from './rpc-server.js';

export type NestModule = Type | DynamicModule;

export interface RunningService {
  /** Requests in work end, hooks run, then the connection is closed. */
  close(): Promise<void>;
}

/** One that can be asked whether it works. */
export interface WatchedService extends RunningService {
  /** Tasks that must not stand still, and do. */
  stalled(): Stalled[];
  /** NATS is there. */
  connected(): boolean;
}

@Module({})
class RootModule {}

/** A module together with the service's context. */
const rootModule = (context: ServiceContext, module: NestModule): DynamicModule => ({
  module: RootModule,
  imports: [contextModule(context), module],
});

/** A Nest microservice that answers the RPCs of its module, one of perhaps several replicas. */
export async function startInContext(context: ServiceContext, module: NestModule): Promise<RunningService> {
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(rootModule(context, module), {
    strategy: new RpcServer(context.bus.wire, context.clock, context.service),
    logger: new NestLog(context.log),
    abortOnError: false,
  });
  app.useGlobalFilters(new RpcErrors(context.log));
  await app.listen();
  // Only now the server knows our subscriptions: who is told "started" may call at once.
  await context.bus.flushed();
  return { close: () => app.close() };
}

/** The service with everything it needs. What fails on the way is closed again. */
export async function startService(
  service: ServiceName,
  module: NestModule,
  o: { config?: ServiceConfig } = {},
): Promise<WatchedService> {
  return startWith(service, (context) => startInContext(context, module), o.config);
}

/** As {@link startService}, for a service with a face of its own (HTTP): `start` makes it from the context. */
export async function startWith(
  service: ServiceName,
  start: (context: ServiceContext) => Promise<RunningService>,
  config?: ServiceConfig,
): Promise<WatchedService> {
  const context = await openContext(service, config);
  let metrics: MetricsServer | undefined;
  try {
    const { listen } = context.config.metrics;
    // The gateway's are behind its own address, with tokens.
    if (listen !== undefined && service !== 'gateway') metrics = await serveMetrics(listen, context.metrics);
    const running = await start(context);
    context.log.info({ service, instance: context.config.instance, metrics: metrics?.address }, 'started');
    return {
      stalled: () => context.bus.pulses.stalled(),
      connected: () => context.bus.connected,
      close: async () => {
        try {
          await metrics?.close();
          await running.close();
        } finally {
          await context.bus.close();
        }
      },
    };
  } catch (e) {
    await metrics?.close();
    await context.bus.close();
    throw e;
  }
}

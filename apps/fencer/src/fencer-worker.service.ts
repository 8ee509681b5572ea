import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { WorkerRegistry, type AnnouncedWorker } from '#bus';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';
import { DriverRegistry } from './drivers/driver-registry.js';

/** The drivers are tested again this often, ms: a tool may be removed, or come with a package. */
const TEST_MS = 60_000;

/** Tells everybody which power drivers work here. */
@Injectable()
export class FencerWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private offered: string[] = [];
  private worker: AnnouncedWorker | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly drivers: DriverRegistry,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.offered = this.drivers.names();
    const id = this.context.config.instance;
    this.worker = await WorkerRegistry.announce(this.context.bus, {
      service: 'fencer',
      id,
      drivers: this.offered,
      // Two processes under one name would each take the other's commands for their own.
      onDisplaced: (by) => {
        this.context.log.fatal({ by }, `another fencer runs as ${id}: this one ends`);
        process.kill(process.pid, 'SIGTERM');
      },
    });
    this.timer = setInterval(() => {
      this.drivers.test().then(
        (names) => this.offer(names),
        (error: unknown) => this.context.log.error({ reason: MusterError.from(error).message }, 'self-test broke off'),
      );
    }, TEST_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.worker?.close();
  }

  private offer(names: string[]): void {
    if (names.join() === this.offered.join()) return;
    this.offered = names;
    this.worker?.setDrivers(names);
  }
}

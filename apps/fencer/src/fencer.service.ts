import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { endDisplaced, ServiceContext } from '#service';
import { DriverRegistry } from './drivers/driver-registry.js';
import { Fencer } from './fencer.js';
import { knownHost } from './fencing/own-host.js';
import { readOwnHost } from './fencing/read-own-host.js';
import { BmcQueue } from './power/bmc-queue.js';
import { PowerCommander } from './power/power-commander.js';

/** The fencer as Nest starts and stops it. */
@Injectable()
export class FencerService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly fencer: Fencer;

  constructor(context: ServiceContext, drivers: DriverRegistry, power: PowerCommander, queue: BmcQueue) {
    const { bus, config, log } = context;
    const { instance } = config;
    this.fencer = new Fencer({
      bus,
      instance,
      log,
      power,
      queue,
      drivers,
      ownHost: () => knownHost(config.host, readOwnHost()),
      displaced: endDisplaced('fencer', context),
    });
  }

  onApplicationBootstrap(): Promise<void> {
    return this.fencer.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.fencer.stop();
  }
}

import type { BusLog } from '#bus';
import { DriverWatch } from './drivers/driver-watch.js';
import type { PowerDrivers } from './drivers/power-driver.js';
import { FencerWorker, type FencerWorkerParts } from './fencer-worker.js';
import { FencingLeader, type FencingLeaderParts } from './fencing/fencing-leader.js';
import { watchedPower } from './power/watched-power.js';

export interface FencerParts extends FencerWorkerParts, Omit<FencingLeaderParts, 'drivers'> {
  log: BusLog;
  drivers: PowerDrivers;
}

/** What a fencer process does by itself: it offers its drivers, and contends for the right to fence. */
export class Fencer {
  private readonly watch: DriverWatch;
  private readonly worker: FencerWorker;
  private readonly leader: FencingLeader;

  constructor(parts: FencerParts) {
    const { bus, log, drivers, power } = parts;
    this.watch = new DriverWatch({ clock: bus.clock, log, drivers });
    this.worker = new FencerWorker(parts, this.watch);
    this.leader = new FencingLeader({ ...parts, drivers: this.watch, power: watchedPower(power, this.watch) });
  }

  /** @throws ALREADY_EXISTS where another live process has its name */
  async start(): Promise<void> {
    await this.watch.start();
    await Promise.all([this.worker.start(), this.leader.start()]);
  }

  /** Commands under way are ended, and their ends written, before the lease is given up. */
  async stop(): Promise<void> {
    this.watch.stop();
    await Promise.all([this.worker.stop(), this.leader.stop()]);
  }
}

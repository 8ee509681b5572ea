import { WorkerRegistry, type AnnouncedWorker, type Bus, type BusLog } from '#bus';
import { MusterError, type Timer } from '#contracts';
import type { OfferedDrivers } from './drivers/power-driver.js';
import type { OwnHost } from './fencing/own-host.js';

/** The drivers are tested again this often, ms: a tool may be removed, or come with a package. */
const TEST_MS = 60_000;

export interface FencerWorkerParts {
  bus: Bus;
  /** This process's name among the workers. */
  instance: string;
  log: BusLog;
  drivers: OfferedDrivers;
  ownHost: () => OwnHost;
  /** Another process has taken the name over: each would take the other's commands for its own, so this one must end. */
  displaced: (by: string) => void;
}

/** Tells everybody which power drivers work here. */
export class FencerWorker {
  private offered: string[] = [];
  private worker: AnnouncedWorker | undefined;
  private timer: Timer | undefined;

  constructor(private readonly parts: FencerWorkerParts) {}

  /** @throws ALREADY_EXISTS where another live process has the name */
  async start(): Promise<void> {
    const { bus, instance, drivers, ownHost, displaced } = this.parts;
    this.offered = drivers.names();
    this.worker = await WorkerRegistry.announce(bus, {
      service: 'fencer',
      id: instance,
      drivers: this.offered,
      host: ownHost().name,
      onDisplaced: displaced,
    });
    this.timer = bus.clock.every(TEST_MS, () => {
      drivers.test().then(
        (names) => this.offer(names),
        (error: unknown) => this.parts.log.error({ reason: MusterError.from(error).message }, 'self-test broke off'),
      );
    });
  }

  async stop(): Promise<void> {
    this.timer?.cancel();
    await this.worker?.close();
  }

  private offer(names: string[]): void {
    if (names.join() === this.offered.join()) return;
    this.offered = names;
    this.worker?.setDrivers(names);
  }
}

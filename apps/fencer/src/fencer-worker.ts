import { WorkerRegistry, type AnnouncedWorker, type Bus } from '#bus';
import type { DriverWatch } from './drivers/driver-watch.js';
import type { OwnHost } from './fencing/own-host.js';

export interface FencerWorkerParts {
  bus: Bus;
  /** This process's name among the workers. */
  instance: string;
  ownHost: () => OwnHost;
  /** Another process has taken the name over: each would take the other's commands for its own, so this one must end. */
  displaced: (by: string) => void;
}

/** Tells everybody which power drivers work here, and which of them fail right now. */
export class FencerWorker {
  private published = '';
  private worker: AnnouncedWorker | undefined;

  constructor(
    private readonly parts: FencerWorkerParts,
    private readonly watch: Pick<DriverWatch, 'names' | 'failing' | 'onChange'>,
  ) {}

  /** @throws ALREADY_EXISTS where another live process has the name */
  async start(): Promise<void> {
    const { bus, instance, ownHost, displaced } = this.parts;
    this.published = this.offer;
    this.worker = await WorkerRegistry.announce(bus, {
      service: 'fencer',
      id: instance,
      drivers: this.watch.names(),
      failing: this.watch.failing(),
      host: ownHost().name,
      addresses: () => ownHost().addresses,
      onDisplaced: displaced,
    });
    this.watch.onChange(() => this.setDrivers());
    this.setDrivers();
  }

  async stop(): Promise<void> {
    await this.worker?.close();
  }

  private get offer(): string {
    return JSON.stringify([this.watch.names(), this.watch.failing()]);
  }

  private setDrivers(): void {
    if (this.offer === this.published) return;
    this.published = this.offer;
    this.worker?.setDrivers(this.watch.names(), this.watch.failing());
  }
}

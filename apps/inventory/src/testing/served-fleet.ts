import { defaultFencing } from '#contracts';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { buildConfig, startService, type RunningService } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { FakeFleet, specDetection } from './fake-fleet.js';
import { until } from './until.js';

/** A fleet that is played, in service under a real inventory on a real server; fencing is enforced. */
export class ServedFleet {
  private constructor(
    private readonly nats: TestNats,
    readonly fleet: FakeFleet,
    private inventory: RunningService,
  ) {}

  static async start(names: string[]): Promise<ServedFleet> {
    const nats = await startTestNats();
    const fleet = await FakeFleet.open(nats.url, names);
    const served = new ServedFleet(nats, fleet, await startReplica(nats, 'inventory-1'));
    await fleet.start();
    await until(
      async () => (await fleet.bus.call('inventory.nodes.list', { inService: true })).items.length === names.length,
      'fleet in service',
    );
    return served;
  }

  /** Another replica joins; with what is returned the first one goes, and this one stays. */
  async join(): Promise<() => Promise<void>> {
    const second = await startReplica(this.nats, 'inventory-2');
    return async () => {
      await this.inventory.close();
      this.inventory = second;
    };
  }

  async stop(): Promise<void> {
    await this.inventory.close();
    await this.fleet.close();
    await this.nats.stop();
  }
}

const startReplica = (nats: TestNats, instance: string): Promise<RunningService> => {
  const values = {
    cluster: 'lab',
    instance,
    dataDir: '/tmp',
    logLevel: process.env['SPEC_LOG'] ?? 'silent',
    nats: { servers: [nats.url] },
    initial: { fencing: { ...defaultFencing, mode: 'enforce' }, detection: specDetection },
  };
  return startService('inventory', InventoryModule, { config: buildConfig(values, undefined, 'spec') });
};

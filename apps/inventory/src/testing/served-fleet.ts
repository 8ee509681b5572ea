import { join } from 'node:path';
import { pino } from 'pino';
import { defaultFencing, type Clock, type RpcRequest, type WorkloadRecord } from '#contracts';
import { Bus } from '#bus';
import { connectPorts } from '#bus/nats/connect.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { buildConfig, ServiceContext, startInContext, startService, type RunningService } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { FakeFleet, specDetection } from './fake-fleet.js';
import { hurriedClock } from './hurried-clock.js';
import { until } from './until.js';

/** A fleet that is played, in service under a real inventory on a real server; fencing is enforced. */
export class ServedFleet {
  private constructor(
    private readonly nats: TestNats,
    readonly fleet: FakeFleet,
    private inventory: RunningService,
    private readonly clock: Clock | undefined,
  ) {}

  /** @param o.hurry so many times as fast time passes for inventory and the workers; detection is that of every day then */
  static async start(names: string[], o: { hurry?: number } = {}): Promise<ServedFleet> {
    const nats = await startTestNats();
    const clock = o.hurry === undefined ? undefined : hurriedClock(o.hurry);
    const fleet = await FakeFleet.open(nats.url, names, clock);
    const served = new ServedFleet(nats, fleet, await startReplica(nats, 'inventory-1', clock), clock);
    await fleet.start();
    await until(
      async () => (await fleet.bus.call('inventory.nodes.list', { inService: true })).items.length === names.length,
      'fleet in service',
    );
    return served;
  }

  /** A workload that runs on a node, and is known to. */
  async runs(
    name: string,
    on: string,
    o: Partial<RpcRequest<'inventory.workloads.put'>['workload']> = {},
  ): Promise<void> {
    this.fleet.run(on, name, 1);
    await this.fleet.bus.call('inventory.workloads.put', { by: 'eve', name, workload: { node: on, ...o } });
    const workloads = this.fleet.bus.bucket<WorkloadRecord>('workloads');
    await until(async () => (await workloads.get(name))?.value.boot, `${name} seen on ${on}`);
  }

  /** Another replica joins; with what is returned the first one goes, and this one stays. */
  async join(): Promise<() => Promise<void>> {
    const second = await startReplica(this.nats, 'inventory-2', this.clock);
    return async () => {
      await this.inventory.close();
      this.inventory = second;
    };
  }

  /** Inventory ends, this is done to what it has stored, and it starts again. */
  async whileStopped(work: () => Promise<unknown>): Promise<void> {
    await this.inventory.close();
    await work();
    this.inventory = await startReplica(this.nats, 'inventory-1', this.clock);
  }

  async stop(): Promise<void> {
    await this.inventory.close();
    await this.fleet.close();
    await this.nats.stop();
  }
}

async function startReplica(nats: TestNats, instance: string, clock: Clock | undefined): Promise<RunningService> {
  const logLevel = process.env['SPEC_LOG'] ?? 'silent';
  const values = {
    cluster: 'lab',
    instance,
    dataDir: join(nats.dir, 'data'),
    logLevel,
    nats: { servers: [nats.url] },
    initial: {
      fencing: { ...defaultFencing, mode: 'enforce' },
      ...(clock === undefined && { detection: specDetection }),
    },
  };
  const config = buildConfig(values, undefined, 'spec');
  if (clock === undefined) return startService('inventory', InventoryModule, { config });
  const bus = new Bus({ ...(await connectPorts({ name: instance, servers: [nats.url] })), clock });
  const running = await startInContext(
    new ServiceContext(config, bus, pino({ level: logLevel }), 'inventory'),
    InventoryModule,
  );
  return {
    close: async () => {
      await running.close();
      await bus.close();
    },
  };
}

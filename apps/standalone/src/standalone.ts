import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { initCluster, storeRoomWarning } from '#bus';
import { natsServerVersion } from '#bus/init/nats-version.js';
import { atPort, MusterError, type ServiceName } from '#contracts';
import { loadConfig, type ServiceConfig, startService, startWith, type WatchedService } from '#service';
import { DetectorModule } from '../../detector/src/detector.module.js';
import { FencerModule } from '../../fencer/src/fencer.module.js';
import { startGateway } from '../../gateway/src/gateway.js';
import { InventoryModule } from '../../inventory/src/inventory.module.js';
import { ProvisionerModule } from '../../provisioner/src/provisioner.module.js';
import { EmbeddedNats } from './embedded-nats.js';
import { NatsRevival } from './nats-revival.js';
import { lockFolder } from './folder-lock.js';
import type { StandaloneOptions } from './options.js';

const DEFAULT_NATS = '127.0.0.1:4222';

const services = [
  ['inventory', InventoryModule],
  ['detector', DetectorModule],
  ['fencer', FencerModule],
  ['provisioner', ProvisionerModule],
] as const;

export interface RunningStandalone extends WatchedService {
  listen: string;
}

/** Everything of a control machine, in order; what was started is ended again when a later part cannot start. */
export async function startStandalone(
  o: StandaloneOptions,
  log: (sentence: string) => void,
): Promise<RunningStandalone> {
  const dir = resolve(o.data);
  const ends: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    makeFolder(dir);
    ends.push(await lockFolder(dir));
    const natsVersion = natsServerVersion();
    if (natsVersion === undefined)
      throw new MusterError('CONFIG_INVALID', 'nats-server is not installed: run "npm run setup"');
    const natsListen = o.natsListen ?? configuredNats(dir) ?? DEFAULT_NATS;
    await initCluster(dir, {
      cluster: o.cluster,
      agents: [],
      natsListen: [natsListen],
      storeDir: join(dir, 'nats'),
      natsVersion,
    });
    const address = splitAddress(natsListen);
    const nats = new EmbeddedNats(join(dir, 'nats.conf'), address, log);
    ends.push(() => nats.stop());
    await nats.start();
    const store = join(dir, 'nats');
    const room = storeRoomWarning(store);
    if (room !== undefined) log(room);

    const revival = new NatsRevival(nats, store);
    ends.push(() => revival.close());
    const configs = (service: ServiceName): ServiceConfig =>
      loadConfig(service, {
        MUSTER_CONFIG: join(dir, 'muster.yaml'),
        MUSTER_INSTANCE: `${service}-1`,
        MUSTER_NATS: `nats://${atPort(address.host, address.port)}`,
        MUSTER_NATS_STORE: store,
        MUSTER_NATS_RESTARTED: 'true',
        MUSTER_LOG_LEVEL: o.logLevel,
        ...(o.listen !== undefined && { MUSTER_LISTEN: o.listen }),
      });
    // The gateway first: an address that is taken is found before anything else is up.
    const gateway = await startWith(
      'gateway',
      async (context) => {
        revival.watch(context.bus);
        return startGateway(context);
      },
      configs('gateway'),
    );
    ends.push(() => gateway.close());
    // Together: after a kill -9 each worker waits until its predecessor of the same name counts as dead.
    const starts = await Promise.allSettled(
      services.map(([service, module]) => startService(service, module, { config: configs(service) })),
    );
    for (const start of starts) if (start.status === 'fulfilled') ends.push(() => start.value.close());
    const failed = starts.find((start) => start.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const running = [gateway, ...starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))];
    return {
      close,
      stalled: () => running.flatMap((r) => r.stalled()),
      connected: () => running.every((r) => r.connected()),
      listen: configs('gateway').http.listen,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function makeFolder(dir: string): void {
  if (existsSync(dir)) return;
  try {
    // Not recursive: a mistyped path should be told, not made.
    mkdirSync(dir, { mode: 0o700 });
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `--data ${dir}: ${(cause as Error).message}`, {}, { cause });
  }
}

/** Where NATS listened last, by the folder's own configuration: a start without the option goes there again. */
function configuredNats(dir: string): string | undefined {
  const file = join(dir, 'muster.yaml');
  if (!existsSync(file)) return undefined;
  const { listen, servers } = loadConfig('inventory', { MUSTER_CONFIG: file }).nats;
  return listen ?? servers[0]?.replace(/^(nats|tls):\/\//, '');
}

/** Where this process itself reaches its server: an address for all is reached by loopback. */
function splitAddress(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':');
  const host = text.slice(0, at).replace(/^\[|\]$/g, '');
  return { host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port: Number(text.slice(at + 1)) };
}

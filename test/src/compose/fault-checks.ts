import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../lab/src/until.js';
import {
  AGAIN_MS,
  allHealthy,
  ask,
  fleet,
  fleetIs,
  holds,
  http,
  same,
  seconds,
  type Check,
  type Scene,
} from './check.js';
import { services, type Service } from './composition.js';

/** Three checks of at most 20 s each find out that one stands still. */
const STANDSTILL_MS = 120_000;

/** For how long a service has no network: longer than clients of NATS need to notice. */
const CUT_MS = 20_000;
const onNetworks = ['nats', 'inventory', 'gateway'] as const;
/** Between the operator's writes: some of them are accepted in the last second before a cut. */
const WRITE_EVERY_MS = 200;
const BEFORE_CUT = 5;

async function killed(scene: Scene, service: Service): Promise<string> {
  const { composition } = scene;
  const before = await composition.inspect(service);
  const since = performance.now();
  // Not by `docker kill`: that is an operator's word, and is obeyed.
  process.kill(before.State.Pid, 'SIGKILL');
  const after = await composition.healthy(service, AGAIN_MS, before.State.StartedAt);
  same(`${service}: container`, after.Id, before.Id);
  holds(`${service} was not restarted`, after.RestartCount > before.RestartCount);
  return `${service} ${seconds(since)}`;
}

/**
 * An operator who goes on writing whatever happens, also at the moment of a cut: workloads that are to be stopped, each
 * under a name of its own.
 */
class Writer {
  tried = 0;
  /** Those that were answered well, and when they were begun: performance.now(). */
  readonly accepted: { name: string; begun: number }[] = [];

  constructor(private readonly scene: Scene) {}

  /** Writes until `work` has ended. What ends one of them ends both. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const writing = this.writeUntil(over.signal);
    try {
      return await Promise.race([work(), writing.then(() => Promise.reject(new Error('the writer has ended')))]);
    } finally {
      over.abort();
      await writing;
    }
  }

  acceptedSince(moment: number): number {
    return this.accepted.filter(({ begun }) => begun >= moment).length;
  }

  /** Until some that were begun from now on have been accepted. */
  async untilAccepted(count: number, limitMs: number): Promise<void> {
    const since = performance.now();
    const isEnough = (): true | undefined => (this.acceptedSince(since) >= count ? true : undefined);
    await until(`${count} writes to be accepted`, limitMs, isEnough, 100);
  }

  private async writeUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.write();
      await sleep(WRITE_EVERY_MS);
    }
  }

  private async write(): Promise<void> {
    this.tried += 1;
    const name = `write-${this.tried}`;
    const spec = { desired: 'stopped', recovery: { driver: 'ansible', spec: { exec: '/bin/true' } } };
    const begun = performance.now();
    const { status } = await http(this.scene, 'PUT', `/v1/workloads/${name}`, spec);
    if (status >= 200 && status <= 299) this.accepted.push({ name, begun });
  }
}

/** Both of a service's networks at once, as when a cable is pulled. */
async function cutOff({ composition: { engine } }: Scene, id: string, networks: readonly string[]): Promise<void> {
  await Promise.all(networks.map((network) => engine.docker('network', 'disconnect', network, id)));
}

async function everyWorkload(scene: Scene): Promise<Set<string>> {
  const names = new Set<string>();
  let path: string | undefined = '/v1/workloads?limit=500';
  while (path !== undefined) {
    const page: { items: { name: string }[]; next?: string } = await ask(scene, 'GET', path);
    for (const { name } of page.items) names.add(name);
    path = page.next === undefined ? undefined : `/v1/workloads?limit=500&cursor=${encodeURIComponent(page.next)}`;
  }
  return names;
}

/** What befalls a control machine, while hosts hang on it. */
export const faultChecks: readonly Check[] = [
  {
    name: 'killed',
    needs: ['story'],
    title: 'each service that is killed is started again, and the fleet is as it was',
    async run(scene) {
      const before = await fleet(scene);
      const times: string[] = [];
      for (const service of services) {
        times.push(await killed(scene, service));
        await scene.composition.healthy('gateway', AGAIN_MS);
        await fleetIs(scene, before);
      }
      return times.join(', ');
    },
  },
  {
    name: 'standstill',
    needs: ['up'],
    title: 'a service that stands still is ended by its health check, and started again',
    async run({ composition }) {
      const before = await composition.inspect('fencer');
      const pid = Number((await composition.exec('fencer', 'cat', '/run/muster/pid')).stdout);
      const since = performance.now();
      // To a process of a container that is not its first: the engine sees nothing of it.
      holds('not stopped', (await composition.exec('fencer', 'sh', '-c', `kill -STOP ${pid}`)).exitCode === 0);
      const after = await composition.healthy('fencer', STANDSTILL_MS, before.State.StartedAt);
      holds('it was not restarted', after.RestartCount > before.RestartCount);
      return `healthy again ${seconds(since)} after it stood still`;
    },
  },
  {
    name: 'networks',
    needs: ['story'],
    title:
      'NATS, inventory and gateway lose their networks: they are healthy again, and nothing that was accepted is lost',
    async run(scene) {
      const { composition, hosts } = scene;
      const before = await fleet(scene);
      const writes = hosts.allPowerWrites().length;
      const writer = new Writer(scene);
      const times: string[] = [];
      await writer.during(async () => {
        for (const service of onNetworks) {
          const id = await composition.containerOf(service);
          const networks = await composition.networks(id);
          holds(`${service} is on ${networks.join(', ')}`, networks.length === 2);
          await writer.untilAccepted(BEFORE_CUT, AGAIN_MS);
          await cutOff(scene, id, networks);
          const cut = performance.now();
          await sleep(CUT_MS);
          // Else the cut was none.
          same(`accepted without ${service}`, writer.acceptedSince(cut), 0);
          for (const network of networks)
            await composition.engine.docker('network', 'connect', '--alias', service, network, id);
          const since = performance.now();
          await writer.untilAccepted(1, AGAIN_MS);
          await allHealthy(composition);
          await fleetIs(scene, before);
          times.push(`${service} ${seconds(since)}`);
        }
      });
      const kept = await everyWorkload(scene);
      const lost = writer.accepted.filter(({ name }) => !kept.has(name));
      same('lost', lost, []);
      same('power commands', hosts.allPowerWrites().length - writes, 0);
      // Those that nobody was told of as well: they are there or not.
      for (const name of kept) if (name.startsWith('write-')) await ask(scene, 'DELETE', `/v1/workloads/${name}`);
      return `${times.join(', ')}; ${writer.accepted.length} of ${writer.tried} writes accepted, all of them kept`;
    },
  },
  {
    name: 'engine',
    needs: ['story'],
    title: 'after a restart of the engine everything runs again, and the fleet is as it was',
    async run(scene) {
      const { composition } = scene;
      const before = await fleet(scene);
      const started: Partial<Record<Service, string>> = {};
      for (const service of services) started[service] = (await composition.inspect(service)).State.StartedAt;
      const since = performance.now();
      await composition.engine.stop();
      await composition.engine.start();
      await allHealthy(composition, started);
      await fleetIs(scene, before);
      return `healthy again after ${seconds(since)}`;
    },
  },
];

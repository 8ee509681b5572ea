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
const cutOff = ['nats', 'inventory', 'gateway'] as const;

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

/** An operator who goes on writing whatever happens: workloads that are to be stopped, each under a name of its own. */
class Writer {
  tried = 0;
  /** Names of those that were answered well. */
  readonly accepted: string[] = [];

  constructor(private readonly scene: Scene) {}

  async during(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      await this.write();
      await sleep(200);
    }
  }

  async untilAccepted(limitMs: number): Promise<void> {
    await until('a write to be accepted', limitMs, async () => ((await this.write()) ? true : undefined), 200);
  }

  private async write(): Promise<boolean> {
    this.tried += 1;
    const name = `write-${this.tried}`;
    const spec = { desired: 'stopped', recovery: { driver: 'ansible', spec: { exec: '/bin/true' } } };
    const { status } = await http(this.scene, 'PUT', `/v1/workloads/${name}`, spec);
    if (status < 200 || status > 299) return false;
    this.accepted.push(name);
    return true;
  }
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
      for (const service of cutOff) {
        const id = await composition.containerOf(service);
        const networks = await composition.networks(id);
        holds(`${service} is on ${networks.join(', ')}`, networks.length === 2);
        for (const network of networks) await composition.engine.docker('network', 'disconnect', network, id);
        const answered = writer.accepted.length;
        await writer.during(CUT_MS);
        // Else the cut was none.
        if (service !== 'inventory') same(`accepted without ${service}`, writer.accepted.length - answered, 0);
        for (const network of networks)
          await composition.engine.docker('network', 'connect', '--alias', service, network, id);
        const since = performance.now();
        await writer.untilAccepted(AGAIN_MS);
        await allHealthy(composition);
        await fleetIs(scene, before);
        times.push(`${service} ${seconds(since)}`);
      }
      const kept = (await ask<{ items: { name: string }[] }>(scene, 'GET', '/v1/workloads?limit=1000')).items;
      const lost = writer.accepted.filter((name) => !kept.some((workload) => workload.name === name));
      same('lost', lost, []);
      same('power commands', hosts.allPowerWrites().length - writes, 0);
      for (const name of writer.accepted) await ask(scene, 'DELETE', `/v1/workloads/${name}`);
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

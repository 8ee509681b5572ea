import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, credentialsFile, readCredentials, WorkerRegistry, type Bus, type Closable } from '#bus';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import { startHostsCluster, type HostsCluster } from '#bus/testing/hosts-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { Subjects } from '#contracts';
import { loadConfig, startService, type RunningService } from '#service';
import { Agent } from '../../agent/src/agent.js';
import { checkConfig, loadCredentials, loadKeys } from '../../agent/src/config/agent-config.js';
import { askAgent } from '../../agent/src/control/client.js';
import type { AgentStatus } from '../../agent/src/control/agent-status.js';
import { freeUdpPort } from '../../agent/src/testing/fleet.js';
import { InventoryModule } from '../../inventory/src/inventory.module.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';
const title = 'an agent on three control hosts';
const NODE = 'host1-SN1';

('program' in newer ? describe : describe.skip)(
  'program' in newer ? title : `${title} (skipped: ${newer.missing})`,
  () => {
    let cluster: HostsCluster;
    let inventory: RunningService;
    let announced: Closable;
    let agent: Agent;
    let state: string;
    const buses: Bus[] = [];

    const busAs = async (user: string, servers: string[]): Promise<Bus> => {
      const bus = await connectBus({
        name: user,
        servers,
        credentials: readCredentials(credentialsFile(cluster.dir, user)),
      });
      buses.push(bus);
      return bus;
    };
    const status = () => askAgent(systemClock, { op: 'status' }, join(state, 'agent.sock')) as Promise<AgentStatus>;
    const until = async (met: (s: AgentStatus) => boolean): Promise<void> => {
      while (!met(await status())) await systemClock.sleep(50);
    };

    beforeAll(async () => {
      cluster = await startHostsCluster(program, { agents: [NODE] });
      const [first] = cluster.hosts;
      const config = loadConfig('inventory', {
        MUSTER_CONFIG: join(first!.dir, 'muster.yaml'),
        MUSTER_LOG_LEVEL: 'fatal',
      });
      inventory = await startService('inventory', InventoryModule, { config });
      const provisioner = await busAs('provisioner', cluster.urls);
      announced = await WorkerRegistry.announce(provisioner, {
        service: 'provisioner',
        id: 'p1',
        drivers: ['ansible'],
      });
      state = join(cluster.dir, 'agent');
      mkdirSync(state);
    });
    afterAll(async () => {
      await agent?.stop('stop');
      await announced?.close();
      await inventory?.close();
      await Promise.all(buses.map((bus) => bus.close()));
      rmSync(state, { recursive: true, force: true });
      await cluster?.stop();
    });

    it('that was enrolled when there was one goes to another when that one is lost', async () => {
      const [first, ...others] = cluster.hosts;
      const gateway = await busAs('gateway', cluster.urls);
      const networks = { management: { address: '127.0.0.1' } };
      await gateway.call('inventory.nodes.create', {
        by: 'spec',
        node: { label: 'host1', serial: 'SN1', networks },
      });
      let lost = (): void => undefined;
      const isLost = new Promise<void>((resolve) => (lost = resolve));
      agent = new Agent({
        config: checkConfig({
          node: NODE,
          cluster: 'spec',
          networks: { management: { bind: '127.0.0.1' } },
          port: await freeUdpPort(),
          nats: { management: [first!.url] },
          keys: '/dev/null',
          stateDir: state,
          socket: join(state, 'agent.sock'),
          lister: ['/bin/echo', '[]'],
        }),
        keys: loadKeys(join(cluster.dir, 'keys', 'datagram.key')),
        credentials: loadCredentials(credentialsFile(cluster.dir, `agent=${NODE}`)),
        epoch: 1,
        bootId: 'boot',
        clock: systemClock,
        random: systemRandom,
        log: { info: (text) => void (text === 'NATS connection lost' && lost()), warn() {}, error() {} },
      });
      await agent.start();
      await until((s) => s.nats.length === 1 && s.list?.nats !== undefined);
      expect((await status()).list?.nats).toEqual({ management: cluster.urls });
      const detector = await busAs(
        'detector',
        others.map((o) => o.url),
      );
      await first!.kill();
      // Reports of before came by the server that is dead.
      await isLost;
      await new Promise<void>((resolve) => {
        detector.subscribe(Subjects.report(NODE), () => resolve());
      });
      await until((s) => s.nats.length === 1);
    });
  },
);

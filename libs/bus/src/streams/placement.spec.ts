import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bus } from '../index.js';
import { connectPorts } from '../nats/connect.js';
import { startTestCluster, whenClusterServes, type TestCluster } from '../testing/nats-cluster.js';
import { newerNats } from '../testing/newer-nats.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';
const title = 'the streams of three servers';

('program' in newer ? describe : describe.skip)(
  'program' in newer ? title : `${title} (skipped: ${newer.missing})`,
  () => {
    let cluster: TestCluster;
    const buses: Bus[] = [];
    let waits = (_why: object): void => undefined;
    /** Why the next wait for a stream began. */
    const nextWait = (): Promise<object> => new Promise((resolve) => (waits = resolve));

    const connect = async (servers: string[]): Promise<Bus> => {
      const ports = await connectPorts({ name: 'spec', servers });
      const bus = new Bus({ ...ports, log: { ...ports.log, warn: (facts) => waits(facts) } });
      buses.push(bus);
      return bus;
    };

    beforeAll(async () => {
      cluster = await startTestCluster({ program });
    });
    afterAll(async () => {
      await Promise.all(buses.map((bus) => bus.close()));
      await cluster?.stop();
    });

    it('are placed once all three are there, and are waited for until then', async () => {
      const early = await connect(cluster.urls);
      await whenClusterServes(() => early.hasStream('any'));
      await Promise.all(cluster.members.map((m) => m.kill()));
      // Two of three have a leader, which knows that there is a third, and nothing of it.
      const [last, ...others] = cluster.members;
      await Promise.all(others.map((m) => m.start()));
      const bus = await connect(others.map((m) => m.url));
      await whenClusterServes(() => bus.hasStream('any'));
      // Which answer is the first of a wait and which the last is up to the servers, and a busy machine: others pass, too.
      await whenClusterServes(async () => {
        let told: object = {};
        waits = (why) => (told = why);
        await expect(bus.createBuckets({ replicas: 3, waitMs: 100 })).rejects.toMatchObject({
          code: 'BUS_UNAVAILABLE',
          message: expect.stringMatching(/^stream \w+ was waited for for 0\.1 s: to be made it needs all NATS servers/),
        });
        expect(told).toMatchObject({
          reason: expect.stringMatching(/no suitable peers for placement, (peer offline|miscellaneous issue)$/),
        });
      });
      const wait = nextWait();
      const made = bus.createBuckets({ replicas: 3, waitMs: 120_000 });
      expect(await Promise.race([wait, made])).toMatchObject({ reason: expect.any(String) });
      await last!.start();
      await made;
      expect((await bus.streamFacts()).every((f) => f.replicas === 3)).toBe(true);
    });
  },
);

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { connectBus } from '#bus';
import { startTestCluster, type TestCluster } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { startTestNats } from '#bus/testing/nats.js';
import { ReadyStream, ServiceNames, type ServiceName } from '#contracts';
import { FACTOR } from '#contracts/testing/chance.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';
const onClusters = 'program' in newer ? 'clusters' : `clusters (skipped, no newer nats-server: ${newer.missing})`;
const describeClusters = 'program' in newer ? describe : describe.skip;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-servers-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How each of these services ends that is started for these servers: exit code and all that it has said. */
async function starts(
  services: readonly ServiceName[],
  servers: readonly string[],
  replicas: number,
): Promise<{ service: string; exitCode: number | undefined; stderr: string }[]> {
  const config = join(folder, 'muster.yaml');
  writeFileSync(
    config,
    JSON.stringify({ nats: { servers }, replicas, credentials: 'none', http: { listen: '127.0.0.1:1' } }),
  );
  return Promise.all(
    services.map(async (service) => {
      const main = fileURLToPath(new URL(`../../../dist/apps/${service}/src/main.js`, import.meta.url));
      const { exitCode, stderr } = await execa(process.execPath, [main], {
        env: { MUSTER_CONFIG: config, MUSTER_DATA_DIR: join(folder, service) },
        reject: false,
      });
      return { service, exitCode, stderr };
    }),
  );
}

async function refuseInOneLine(
  services: readonly ServiceName[],
  servers: readonly string[],
  replicas: number,
  why: RegExp,
): Promise<void> {
  for (const { service, exitCode, stderr } of await starts(services, servers, replicas)) {
    const [line, ...more] = stderr.split('\n');
    expect([service, exitCode, line, more]).toEqual([service, 1, expect.stringMatching(why), []]);
    expect(line).toContain(`muster ${service}: `);
  }
  const bus = await connectBus({ name: 'spec', servers: [servers[0]!] });
  expect(await bus.hasStream(ReadyStream.name).catch((e: unknown) => e)).not.toBe(true);
  await bus.close();
}

// What is wrong with the servers is found in the same place for all: one service tells each of the others.
describe('services on a single server', () => {
  it('refuse three copies in one line before they make anything', async () => {
    const nats = await startTestNats();
    try {
      const services = FACTOR > 1 ? ServiceNames : (['provisioner', 'gateway'] as const);
      await refuseInOneLine(services, [nats.url], 3, /replicas: 3 needs a cluster of NATS, .* set replicas: 1/);
    } finally {
      await nats.stop();
    }
  });
});

describeClusters(`services on ${onClusters}`, () => {
  let cluster: TestCluster;
  afterAll(() => cluster?.stop());

  it('refuse one copy in one line, on any of its addresses', async () => {
    cluster = await startTestCluster({ program });
    await refuseInOneLine(
      ['inventory'],
      cluster.urls,
      1,
      /replicas: 1 on NATS cluster spec would lose records .* set replicas: 3/,
    );
  });

  it('refuse servers that keep separate stores', async () => {
    const other = await startTestNats();
    try {
      await refuseInOneLine(
        ['fencer'],
        [...cluster.urls, other.url],
        3,
        /keep separate stores: name servers of one cluster/,
      );
    } finally {
      await other.stop();
    }
  });

  it('refuse a server that is too old, also where they are connected to another', async () => {
    const mixed = await startTestCluster({ program: [program, program, 'nats-server'], sync: false });
    try {
      await refuseInOneLine(
        ['detector'],
        mixed.urls,
        3,
        /NATS server muster-3 of cluster spec has version \S+, .* on every server of it/,
      );
    } finally {
      await mixed.stop();
    }
  });
});

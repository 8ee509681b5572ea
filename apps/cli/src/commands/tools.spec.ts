import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, whenClusterServes, type TestCluster } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { connectBus, credentialsFile, readCredentials } from '#bus';
import { MusterUnderTest } from '../testing/muster.js';
import { notTold } from './tools.js';

describe('what is told of a revocation', () => {
  it('is nothing more where every server has taken it', () => {
    expect(notTold('billing', { servers: 3, told: 3 })).toBeUndefined();
    expect(notTold('billing', { servers: 1, told: 1 })).toBeUndefined();
  });

  it('is by how many it is refused, where one is away', () => {
    expect(notTold('billing', { servers: 3, told: 2 })).toMatch(/^billing is refused by 2 of 3 NATS servers: /);
  });
});

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';

('program' in newer ? describe : describe.skip)('muster tool revoke on three NATS servers', () => {
  let cluster: TestCluster;
  const sut = new MusterUnderTest();
  beforeAll(async () => {
    cluster = await startTestCluster({ program, users: true });
    const credentials = readCredentials(credentialsFile(cluster.dir, 'inventory'));
    const bus = await connectBus({ name: 'spec', servers: cluster.urls, credentials });
    await whenClusterServes(() => bus.createBuckets({ replicas: 3 }));
    await bus.close();
  });
  afterAll(() => cluster?.stop());

  it('says so, and fails, where one of them could not be told', async () => {
    const { dir, members } = cluster;
    for (const name of ['one', 'two'])
      expect(await sut.call(['tool', 'add', name, '--role', 'viewer', '--dir', dir])).toMatchObject({ code: 0 });
    expect(await sut.call(['tool', 'revoke', 'one', '--dir', dir])).toMatchObject({
      code: 0,
      stdout: 'revoked: one\n',
    });
    await members[2]!.kill();
    const { code, stderr } = await sut.call(['tool', 'revoke', 'two', '--dir', dir]);
    expect([code, stderr]).toEqual([1, `muster: ${notTold('two', { servers: 3, told: 2 })}\n`]);
  });
});

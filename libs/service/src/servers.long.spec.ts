import { afterAll, describe, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { startTestNats } from '#bus/testing/nats.js';
import { refuseInOneLine } from './testing/refused-servers.js';

const newer = newerNats();
const program = 'program' in newer ? newer.program : '';
const onClusters = 'program' in newer ? 'clusters' : `clusters (skipped, no newer nats-server: ${newer.missing})`;
const describeClusters = 'program' in newer ? describe : describe.skip;

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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentialsFile, type Bus } from '#bus';
import type { TestNats } from '#bus/testing/nats.js';
import { SETTINGS_KEY, type ClusterSettings, type NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { buildConfig, type ServiceConfig } from '#service';

/** Of the fleets that specs play. */
export const CLUSTER = 'spec';

/** What inventory has in the registry: nodes by name, with the address on each of their networks. */
export async function register(
  bus: Bus,
  settings: ClusterSettings,
  nodes: Record<string, Record<string, string>>,
): Promise<void> {
  await bus.createBuckets();
  await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, settings);
  for (const [name, addresses] of Object.entries(nodes)) {
    const networks = Object.fromEntries(Object.entries(addresses).map(([n, address]) => [n, { address }]));
    // Nothing listens there: the own probe finds the port refused.
    const node = aNode(name, { label: name, networks, vars: { ansible_port: 9 }, state: 'Unknown' });
    await bus.bucket<NodeRecord>('nodes').create(name, node);
  }
}

/** Of the one detector of a spec, on a server with users or without. `SPEC_LOG` lets it speak. */
export function detectorConfig(nats: TestNats, o: { users?: boolean } = {}): ServiceConfig {
  const keyFile = join(nats.dir, 'datagram.key');
  if (!o.users) writeFileSync(keyFile, 'ab'.repeat(32));
  const values = {
    cluster: CLUSTER,
    instance: 'detector-1',
    nats: { servers: [nats.url] },
    ...(o.users && { credentials: credentialsFile(nats.dir, 'detector') }),
    keys: { datagram: o.users ? join(nats.dir, 'keys', 'datagram.key') : keyFile },
    dataDir: nats.dir,
    logLevel: process.env['SPEC_LOG'] ?? 'silent',
  };
  return buildConfig(values, undefined, 'spec');
}

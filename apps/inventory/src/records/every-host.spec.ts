import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { buildConfig, ServiceContext, startInContext } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { until } from '../testing/until.js';

const hosts = ['ctl1', 'ctl2'];
let nats: TestNats;
let bus: Bus;
const ends: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  nats = await startTestNats();
  ends.push(() => nats.stop());
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  ends.push(() => bus.close());
  for (const name of hosts) {
    const dir = mkdtempSync(join(tmpdir(), `muster-${name}-`));
    const own = await connectBus({ name: `inventory-${name}`, servers: [nats.url] });
    ends.push(
      () => rmSync(dir, { recursive: true, force: true }),
      () => own.close(),
    );
    const values = { cluster: 'spec', instance: name, host: { name }, dataDir: dir, nats: { store: dir } };
    const config = buildConfig(values, undefined, 'spec');
    const context = new ServiceContext(config, own, pino({ level: 'silent' }), 'inventory');
    const running = await startInContext(context, InventoryModule);
    ends.push(() => running.close());
    // They take it for a cluster from now on, which one server is not: its buckets are made.
    config.replicas = 3;
  }
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

describe('an inventory on one of several control hosts', () => {
  it('knows the disk below the store of each of them, by what the others have told', async () => {
    const all = await until(async () => {
      const { disks = [] } = (await bus.call('inventory.diagnosis', {}, { timeoutMs: 20_000 })).bus;
      return disks.length === hosts.length && disks;
    }, 'two disks');
    expect(all.map(({ host }) => host)).toEqual(hosts);
    for (const { totalBytes, freeBytes, path } of all)
      expect([totalBytes > freeBytes, path.includes('muster-ctl')]).toEqual([true, true]);
    // Who answers has looked itself.
    expect(all.filter(({ ageMs }) => ageMs === undefined)).toHaveLength(1);
  });
});

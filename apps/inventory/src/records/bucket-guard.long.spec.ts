import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { STORE_GENERATION_KEY, type AlarmRecord, type LeaseView, type StoreGeneration } from '#contracts';
import { buildConfig, ServiceContext, startInContext } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { until } from '../testing/until.js';

// Without users: none of Muster's own may delete a bucket.
let nats: TestNats;
let bus: Bus;
const ends: (() => Promise<unknown>)[] = [];
const dir = mkdtempSync(join(tmpdir(), 'muster-buckets-'));

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  ends.push(() => bus.close());
  const own = await connectBus({ name: 'inventory-1', servers: [nats.url] });
  ends.push(() => own.close());
  const config = buildConfig({ cluster: 'spec', instance: 'inventory-1', dataDir: dir }, undefined, 'spec');
  const context = new ServiceContext(config, own, pino({ level: 'silent' }), 'inventory');
  const running = await startInContext(context, InventoryModule);
  ends.push(() => running.close());
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await nats?.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('the bucket of leases', () => {
  it('is made again when it has vanished; tokens grow, and it is an alarm until somebody has seen it', async () => {
    const conductor = async (): Promise<LeaseView | false> =>
      (await bus.call('inventory.status', {})).leases.find((l) => l.name === 'conductor' && l.holder !== undefined) ??
      false;
    const anew = async (): Promise<AlarmRecord | undefined> =>
      (await bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'bucket-anew');
    const before = await until(conductor, 'a conductor');
    await until(async () => (await bus.bucket('settings').get('token-floor')) !== undefined, 'its token is kept');
    await until(async () => (await bus.bucket('settings').get('bucket-births')) !== undefined, 'the buckets are known');
    await bus.wire.request('$JS.API.STREAM.DELETE.KV_leases', '', { timeoutMs: 5_000 });
    const alarm = await until(async () => {
      const found = await anew();
      return found?.message.includes('was made anew') === true && found;
    }, 'the alarm');
    expect(alarm).toMatchObject({ subject: 'leases', severity: 'critical' });
    const after = await until(async () => {
      const now = await conductor();
      return now !== false && now.token > before.token && now;
    }, 'a conductor with a higher token');
    expect(after.holder).toBe('inventory-1');
    await bus.call('inventory.alarms.ack', { by: 'ann', id: 'bucket-anew=leases' });
    await until(async () => (await anew()) === undefined, 'the alarm is over');
  }, 90_000);
});

describe('a store that was loaded from a copy', () => {
  it('is an alarm until somebody has acknowledged it; its generation stays', async () => {
    const settings = bus.bucket<StoreGeneration>('settings');
    const loaded = { copied: '2026-11-01T00:00:00.000Z', at: '2026-11-18T00:00:00.000Z' };
    await settings.create(STORE_GENERATION_KEY, { generation: 1_795_000_000, loaded });
    const stands = async (): Promise<AlarmRecord | undefined> =>
      (await bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'store-loaded');
    const alarm = await until(async () => (await stands()) ?? false, 'the alarm');
    expect(alarm).toMatchObject({ subject: '1795000000', severity: 'critical' });
    await bus.call('inventory.alarms.ack', { by: 'ann', id: 'store-loaded=1795000000' });
    await until(async () => (await stands()) === undefined, 'the alarm is over');
    expect((await settings.get(STORE_GENERATION_KEY))?.value).toEqual({ generation: 1_795_000_000 });
  }, 90_000);
});

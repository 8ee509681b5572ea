import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pino } from 'pino';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { STORE_GENERATION_KEY, type StoreGeneration } from '#contracts';
import { buildConfig, ServiceContext, startInContext, type RunningService } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { until } from '../testing/until.js';
import { markOf, type StoreMark } from './put-back.js';

let nats: TestNats;
let bus: Bus;
const dir = mkdtempSync(join(tmpdir(), 'muster-memory-'));
const file = join(dir, 'store-marks=inventory-1.json');

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
});
afterAll(async () => {
  await bus?.close();
  await nats?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const inventory = async (): Promise<RunningService> => {
  const own = await connectBus({ name: 'inventory-1', servers: [nats.url] });
  const config = buildConfig({ cluster: 'spec', instance: 'inventory-1', dataDir: dir }, undefined, 'spec');
  const running = await startInContext(
    new ServiceContext(config, own, pino({ level: 'silent' }), 'inventory'),
    InventoryModule,
  );
  return {
    close: async () => {
      await running.close();
      await own.close();
    },
  };
};
const marks = (): StoreMark[] => JSON.parse(readFileSync(file, 'utf8')) as StoreMark[];

/** The last revision in it, once NATS is back. */
const leases = (): Promise<number> =>
  until(async () => {
    if (!bus.connected) return false;
    return (await bus.bucketFacts()).get('leases')?.lastSeq ?? false;
  }, 'the bucket of leases');

it('files of NATS that were put back while all was stopped pause fencing, and begin a generation', async () => {
  const first = await inventory();
  await until(() => Promise.resolve(existsSync(file)), 'it remembers the store');
  await nats.kill();
  const before = join(dir, 'before');
  cpSync(nats.dir, before, { recursive: true });
  await nats.restart();
  const at = await leases();
  await until(async () => (await leases()) > at + 3, 'more is written');
  await first.close();
  const [seen] = marks();
  const facts = await bus.bucketFacts();
  await nats.kill();
  rmSync(nats.dir, { recursive: true });
  cpSync(before, nats.dir, { recursive: true });
  await nats.restart();
  // As if it had looked at the store as it was before that, and ten minutes later.
  const now = Date.now();
  const mark = { ...markOf({ buckets: facts, generation: seen?.generation ?? 0 }, now) };
  writeFileSync(file, JSON.stringify([{ ...mark, at: now - 600_000 }, mark]));

  const second = await inventory();
  const alarm = await until(
    async () => (await bus.call('inventory.alarms.list', {})).items.find((a) => a.code === 'store-loaded') ?? false,
    'the alarm',
  );
  expect(alarm.message).toContain('the files of NATS were found to be older ones');
  expect(alarm.message).toContain('muster store restored');
  const { fencing } = await bus.call('inventory.settings.get', {});
  expect(fencing.paused).toMatchObject({ by: 'muster store', reason: expect.stringContaining('older than') as string });
  expect(fencing.paused?.until).toBeUndefined();
  const kept = await bus.bucket<StoreGeneration>('settings').get(STORE_GENERATION_KEY);
  expect(kept?.value).toMatchObject({ generation: expect.any(Number) as number, loaded: { found: true } });
  await second.close();
  // What it remembers now is of the store as it is.
  expect(marks()).toHaveLength(1);
});

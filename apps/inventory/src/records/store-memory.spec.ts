import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { STORE_GENERATION_KEY, type AlarmRecord, type StoreGeneration } from '#contracts';
import { buildConfig, ServiceContext, startInContext } from '#service';
import { InventoryModule } from '../inventory.module.js';
import { until } from '../testing/until.js';
import { decideSeen, LOST_TAIL_MS, nothingSeen, readSeen, writtenSeen, type SeenStore } from './put-back.js';

let nats: TestNats;
let dir: string;
/** Ended after each test, the last one first. */
let ends: (() => Promise<void> | void)[];

beforeEach(async () => {
  ends = [];
  dir = mkdtempSync(join(tmpdir(), 'muster-memory-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  nats = await startTestNats();
  ends.push(() => nats.stop());
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
});

/** A connection of now: one of before a restart of NATS comes back when it likes. */
const connect = async (name = 'spec'): Promise<Bus> => {
  const bus = await connectBus({ name, servers: [nats.url] });
  ends.push(() => bus.close());
  return bus;
};
const folder = (instance: string): string => join(dir, instance);
const file = (instance: string): string => join(folder(instance), `store-marks=${instance}.json`);
const seenBy = (instance: string): SeenStore => readSeen('spec', readFileSync(file(instance), 'utf8'));

/** Resolves when it runs; with what is returned it ends. */
async function inventory(instance: string): Promise<() => Promise<void>> {
  const bus = await connect(instance);
  const config = buildConfig({ cluster: 'spec', instance, dataDir: folder(instance) }, undefined, 'spec');
  const running = await startInContext(
    new ServiceContext(config, bus, pino({ level: process.env['SPEC_LOG'] ?? 'silent' }), 'inventory'),
    InventoryModule,
  );
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= running.close());
  ends.push(close);
  return close;
}

const standing = async (bus: Bus, code: AlarmRecord['code']): Promise<AlarmRecord | undefined> =>
  (await bus.call('inventory.alarms.list', {})).items.find((a) => a.code === code && a.cleared === undefined);
const alarm = (bus: Bus, code: AlarmRecord['code']): Promise<AlarmRecord> =>
  until(() => standing(bus, code), `the alarm ${code}`);
const generation = async (bus: Bus): Promise<StoreGeneration | undefined> =>
  (await bus.bucket<StoreGeneration>('settings').get(STORE_GENERATION_KEY))?.value;

/** As if this inventory had looked at the store as it is, and once more after that. */
async function remember(bus: Bus, instance: string): Promise<void> {
  const store = { buckets: await bus.bucketFacts(), generation: 0 };
  const [at, first] = [Date.now() - 3_600_000, seenBy(instance).marks.at(-1)?.watchedMs ?? 0];
  const seen = [first + LOST_TAIL_MS, first + 2 * LOST_TAIL_MS].reduce(
    (now, watchedMs) => decideSeen(now, store, { at: at + watchedMs, watchedMs }).seen,
    nothingSeen,
  );
  writeFileSync(file(instance), writtenSeen('spec', seen));
}

describe('what an inventory remembers of the store', () => {
  it('pauses fencing where the files of NATS were put back while all was stopped, and begins one generation', async () => {
    const running = [await inventory('inventory-1'), await inventory('inventory-2')];
    for (const instance of ['inventory-1', 'inventory-2'])
      await until(() => existsSync(file(instance)), `${instance} remembers the store`);
    await nats.kill();
    const before = join(dir, 'before');
    cpSync(nats.dir, before, { recursive: true });
    await nats.restart();
    let bus = await connect();
    // In a bucket that no inventory writes by itself: what is put back does not get past that before it is looked at.
    for (let i = 0; i < 5; i++) await bus.bucket('workloads').delete('gone', undefined);
    for (const close of running) await close();
    for (const instance of ['inventory-1', 'inventory-2']) await remember(bus, instance);
    await nats.kill();
    rmSync(nats.dir, { recursive: true });
    cpSync(before, nats.dir, { recursive: true });
    await nats.restart();

    bus = await connect();
    await inventory('inventory-1');
    const { message } = await alarm(bus, 'store-loaded');
    expect(message).toContain('the files of NATS were found to be older ones');
    expect(message).toContain('muster store restored');
    const { fencing } = await bus.call('inventory.settings.get', {});
    expect(fencing.paused).toMatchObject({
      by: 'muster store',
      reason: expect.stringContaining('older than') as string,
    });
    expect(fencing.paused?.until).toBeUndefined();
    const begun = await generation(bus);
    expect(begun).toMatchObject({ generation: expect.any(Number) as number, loaded: { found: true } });
    // What it remembers now is of the store as it is.
    await until(() => seenBy('inventory-1').stores.at(-1)?.generation === begun?.generation, 'it remembers that');
    expect(seenBy('inventory-1').marks).toHaveLength(1);

    // Somebody ends the pause. The other inventory, which was off until now, remembers the same, and finds it told.
    await bus.call('inventory.fencing.put', { mode: 'observe', by: 'ann' });
    await inventory('inventory-2');
    await until(() => seenBy('inventory-2').stores.at(-1)?.generation === begun?.generation, 'the other one remembers');
    expect(await generation(bus)).toEqual(begun);
    expect((await bus.call('inventory.settings.get', {})).fencing.paused).toBeUndefined();
  });

  it('is told where it cannot be written, and nothing is paused for that', async () => {
    writeFileSync(folder('inventory-1'), 'no folder');
    await inventory('inventory-1');
    const bus = await connect();
    const told = await alarm(bus, 'store-unwatched');
    expect(told).toMatchObject({ subject: 'inventory-1', severity: 'warning' });
    expect(told.message).toContain(`cannot write ${file('inventory-1')} (EEXIST)`);
    expect((await bus.call('inventory.settings.get', {})).fencing.paused).toBeUndefined();
    expect(await generation(bus)).toBeUndefined();
    rmSync(folder('inventory-1'));
    await until(() => existsSync(file('inventory-1')), 'it is written as soon as it can be');
    await until(async () => (await standing(bus, 'store-unwatched')) === undefined, 'the end of the alarm');
  });
});

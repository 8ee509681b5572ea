import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectBus, type Bus } from './index.js';
import { startTestNats, type TestNats } from './testing/nats.js';

interface Thing {
  n: number;
}

let nats: TestNats;
let bus: Bus;
let other: Bus;

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  other = await connectBus({ name: 'other', servers: [nats.url] });
  await Promise.all([bus.createBuckets(), other.createBuckets()]);
}, 30_000);

afterAll(async () => {
  await bus?.close();
  await other?.close();
  await nats?.stop();
});

describe('a bucket', () => {
  it('creates, reads and updates by compare-and-set only', async () => {
    const things = bus.bucket<Thing>('nodes');
    const first = await things.create('a.b', { n: 1 });
    expect(await things.get('a.b')).toEqual({ key: 'a.b', value: { n: 1 }, revision: first });
    await expect(things.create('a.b', { n: 2 })).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    const second = await things.update('a.b', { n: 2 }, first);
    expect(second).toBeGreaterThan(first);
    await expect(things.update('a.b', { n: 3 }, first)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
  });

  it('takes a deleted value for none, and lets it be created again with a higher revision', async () => {
    const things = bus.bucket<Thing>('nodes');
    const first = await things.create('gone', { n: 1 });
    await things.delete('gone');
    expect(await things.get('gone')).toBeUndefined();
    expect((await things.list()).map((e) => e.key)).not.toContain('gone');
    expect(await things.create('gone', { n: 2 })).toBeGreaterThan(first);
  });

  it('lists an empty bucket', async () => {
    expect(await bus.bucket('secrets').list()).toEqual([]);
  });

  it('loses no mutation of many writers', async () => {
    const add = (b: Bus) => b.bucket<Thing>('settings').mutate('sum', (e) => ({ n: (e?.value.n ?? 0) + 1 }));
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(i % 2 ? bus : other)));
    expect((await bus.bucket<Thing>('settings').get('sum'))?.value).toEqual({ n: 20 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '#contracts';
import { connectBus, credentialsFile, readCredentials, type Bus } from '../index.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
const buses: Bus[] = [];
const as = async (user: string): Promise<Bus> => {
  const credentials = readCredentials(credentialsFile(nats.dir, user));
  const bus = await connectBus({ name: user, servers: [nats.url], credentials });
  buses.push(bus);
  return bus;
};
const verdict = (node: string, seq: number): Verdict => ({
  node,
  verdict: 'UP',
  networks: [],
  epoch: 1,
  seq,
  at: seq,
  reason: '',
  evidence: { observers: [], assigned: 0, accusers: 0, members: 1, sightedReporters: 1 },
});

beforeAll(async () => {
  nats = await startTestNats({ users: true });
});
afterAll(async () => {
  await Promise.all(buses.map((b) => b.close()));
  await nats?.stop();
});

describe('the verdicts that are stored', () => {
  it('are counted by node, and thinned out by inventory alone, which leaves the newest and all else', async () => {
    const inventory = await as('inventory');
    await inventory.createBuckets();
    const detector = await as('detector');
    for (let seq = 1; seq <= 10; seq++) await detector.publishVerdict(verdict('a.x-1', seq));
    await detector.publishVerdict(verdict('b-2', 11));
    await inventory.emit('in-service', 'a.x-1', { node: 'a.x-1' });
    const before = await inventory.eventStorage();
    expect(before).toMatchObject({ messages: 12, mostBytes: 1024 * 1024 * 1024 });
    expect(Object.fromEntries(before.verdicts)).toEqual({ 'a.x-1': 10, 'b-2': 1 });
    const gateway = await as('gateway');
    await expect(gateway.keepVerdicts('a.x-1', 4)).rejects.toThrow('STREAM.PURGE.MUSTER');
    await inventory.keepVerdicts('a.x-1', 4);
    const after = await inventory.eventStorage();
    expect(after.messages).toBe(6);
    const { items } = await gateway.readBack(['muster.>'], { count: 20, keep: () => true });
    expect(items.map((e) => (e.value as Partial<Verdict>).seq ?? 'event')).toEqual(['event', 11, 10, 9, 8, 7]);
    await inventory.keepVerdicts('*', 2);
    expect((await inventory.eventStorage()).messages).toBe(3);
  });
});

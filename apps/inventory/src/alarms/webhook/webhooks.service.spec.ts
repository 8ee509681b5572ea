import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { defaultSettings, SETTINGS_KEY, type AlarmRecord, type MusterEvent, type Webhook } from '#contracts';
import { InventoryStore } from '../../store/inventory-store.js';
import { AlarmService } from '../alarm.service.js';
import { postEvent } from './webhook-request.js';
import { WebhooksService } from './webhooks.service.js';

interface Replica {
  bus: Bus;
  store: InventoryStore;
  alarms: AlarmService;
  hooks: WebhooksService;
}

let nats: TestNats;
let replicas: Replica[];
const receivers: Server[] = [];

async function replica(name: string): Promise<Replica> {
  const bus = await connectBus({ name, servers: [nats.url] });
  const store = await InventoryStore.open(bus, { cluster: 'spec', replicas: 1 });
  const alarms = new AlarmService(store);
  const hooks = new WebhooksService(store, alarms, postEvent);
  await store.settings.bucket.mutate(SETTINGS_KEY, (now) => (now ? undefined : defaultSettings('spec')));
  hooks.onApplicationBootstrap();
  return { bus, store, alarms, hooks };
}

const close = async (r: Replica): Promise<void> => {
  await r.hooks.onApplicationShutdown();
  await r.store.close();
  await r.bus.close();
};

beforeAll(async () => {
  nats = await startTestNats();
  replicas = [await replica('inventory-1'), await replica('inventory-2')];
});
afterAll(async () => {
  await Promise.all(replicas.map(close));
  await nats.stop();
});
afterEach(async () => {
  await set([]);
  for (const r of receivers.splice(0)) {
    r.closeAllConnections();
    await new Promise((resolve) => r.close(resolve));
  }
});

interface Receiver {
  url: string;
  /** What has arrived, in order. */
  got: string[];
  /** Resolves when so many have arrived. */
  count(n: number): Promise<void>;
  /** Resolves when this one has arrived. */
  has(what: string): Promise<void>;
}

const short = (e: MusterEvent<'alarm'>): string => {
  const { code, subject, cleared, acknowledged } = e.data;
  return `${cleared !== undefined ? 'cleared' : acknowledged ? 'acknowledged' : 'raised'} ${code} ${subject}`;
};

async function receiver(answer: (res: ServerResponse, n: number) => void = (res) => res.end()): Promise<Receiver> {
  const got: string[] = [];
  let arrived: () => void = () => undefined;
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => (text += String(chunk)));
    req.on('end', () => {
      got.push(short(JSON.parse(text) as MusterEvent<'alarm'>));
      answer(res, got.length);
      arrived();
    });
  });
  receivers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await new Promise<void>((resolve) => (arrived = resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got,
    count: (n) => until(() => got.length >= n),
    has: (what) => until(() => got.includes(what)),
  };
}

/** Waits until every replica's consumers stand: what is raised then reaches the new hooks. */
async function set(webhooks: Webhook[]): Promise<void> {
  const [first] = replicas as [Replica];
  await first.store.settings.bucket.mutate(SETTINGS_KEY, (now) => ({
    ...(now?.value ?? defaultSettings('spec')),
    webhooks,
  }));
  for (const { name } of webhooks) {
    const info = (): Promise<string> =>
      first.bus.wire.request(`$JS.API.CONSUMER.INFO.MUSTER.webhook-${name}`, '', { timeoutMs: 8_000 });
    while ((await info()).includes('error')) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const raise = (subject: string, severity: AlarmRecord['severity'] = 'warning') =>
  replicas[0]?.alarms.raise('no-room', subject, severity, 'full');

describe('webhooks', () => {
  it('hear of an alarm when it is raised, acknowledged and cleared, in this order, once each', async () => {
    const pager = await receiver();
    await set([{ name: 'pager', url: pager.url }]);
    const [a, b] = replicas as [Replica, Replica];
    await raise('quiet', 'info');
    for (const subject of ['w1', 'w2', 'w3']) await raise(subject);
    await b.alarms.acknowledge('no-room=w1', 'ann');
    for (const subject of ['quiet', 'w1', 'w2', 'w3']) await a.alarms.clear('no-room', subject);
    await pager.count(7);
    expect(pager.got).toEqual([
      'raised no-room w1',
      'raised no-room w2',
      'raised no-room w3',
      'acknowledged no-room w1',
      'cleared no-room w1',
      'cleared no-room w2',
      'cleared no-room w3',
    ]);
  });

  it('that want critical ones only are told how such a one goes on, also when it has become milder', async () => {
    const boss = await receiver();
    await set([{ name: 'boss', url: boss.url, severity: 'critical' }]);
    await raise('mild');
    for (const severity of ['critical', 'info'] as const) await raise('bad', severity);
    for (const subject of ['mild', 'bad']) await replicas[0]?.alarms.clear('no-room', subject);
    await boss.has('cleared no-room bad');
    expect(boss.got).toEqual(['raised no-room bad', 'raised no-room bad', 'cleared no-room bad']);
    // Raised anew, it has its worst still before it.
    await raise('bad', 'info');
    await raise('worse', 'critical');
    await boss.has('raised no-room worse');
    expect(boss.got).toHaveLength(4);
  });

  it('do not wait for one that never answers, or answers wrong; that one gets its events in order later', async () => {
    const good = await receiver();
    const dead = await receiver(() => undefined);
    const ill = await receiver((res, n) => res.writeHead(n <= 2 ? 500 : 200).end());
    await set([
      { name: 'dead', url: dead.url },
      { name: 'ill', url: ill.url },
      { name: 'good', url: good.url },
    ]);
    const begun = performance.now();
    for (const subject of ['x1', 'x2']) await raise(subject);
    await good.count(2);
    // One that does not answer is given up after 5 s.
    expect(performance.now() - begun).toBeLessThan(4_500);
    expect(dead.got).toEqual(['raised no-room x1']);
    await ill.count(4);
    expect(ill.got).toEqual([...Array<string>(3).fill('raised no-room x1'), 'raised no-room x2']);
  });

  it('go on in another process when the one that sends ends, and tell of a failing one without telling it', async () => {
    const ill = await receiver((res) => res.writeHead(503).end());
    const good = await receiver();
    await set([
      { name: 'sick', url: ill.url },
      { name: 'well', url: good.url },
    ]);
    await raise('y1');
    await good.has('raised webhook-failing sick');
    const before = ill.got.length;
    await close(replicas.shift() as Replica);
    await ill.count(before + 1);
    expect(new Set(ill.got)).toEqual(new Set(['raised no-room y1']));
    await replicas[0]?.alarms.raise('no-room', 'y2', 'warning', 'full');
    await good.has('raised no-room y2');
    // Gone from the settings, it fails no more.
    await set([{ name: 'well', url: good.url }]);
    await good.has('cleared webhook-failing sick');
    // One that was under way when its process ended may come twice.
    expect([...new Set(good.got)]).toEqual([
      'raised no-room y1',
      'raised webhook-failing sick',
      'raised no-room y2',
      'cleared webhook-failing sick',
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bus } from '#bus';
import { connectPorts } from '#bus/nats/connect.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { completeSettings, defaultSettings, MusterError, SETTINGS_KEY, type ClusterSettings } from '#contracts';
import { InventoryStore } from './inventory-store.js';

describe('what inventory remembers', () => {
  let nats: TestNats;
  let store: InventoryStore;
  let bus: Bus;
  /** Stream → how to break the watch that stands. */
  const doubts = new Map<string, (why: string) => void>();
  /** Streams that cannot be read now. */
  const held = new Set<string>();

  beforeAll(async () => {
    nats = await startTestNats();
    const ports = await connectPorts({ name: 'inventory', servers: [nats.url] });
    const { messages } = ports;
    const read: typeof messages.read = (stream, o) => {
      if (held.has(stream)) return Promise.reject(new MusterError('TIMEOUT', `no answer on ${stream}`));
      doubts.set(stream, (reason) => o.onDoubt(reason));
      return messages.read(stream, o);
    };
    bus = new Bus({ ...ports, messages: Object.assign(Object.create(messages) as typeof messages, { read }) });
    store = await InventoryStore.open(bus, { cluster: 'spec', replicas: 1 });
  });
  afterAll(async () => {
    await store?.close();
    await bus?.close();
    await nats?.stop();
  });

  it.each(['KV_nodes', 'KV_workers'])(
    'is waited for while its watch of %s has a gap, and no longer',
    async (stream) => {
      await store.whenLive();
      expect(store.gap).toBeUndefined();
      held.add(stream);
      doubts.get(stream)?.('a message is missing');
      expect(store.gap).toBe('the view of the records has a gap');
      await store.whenLive(100);
      expect(store.live).toBe(false);
      const waited = store.whenLive(60_000);
      held.delete(stream);
      await waited;
      expect(store.live).toBe(true);
    },
  );

  it('makes the settings of what is stored once, and anew when that has changed', async () => {
    const bucket = bus.bucket<ClusterSettings>('settings');
    const stored = async (leaveGrace: number): Promise<ClusterSettings> => {
      const settings = { ...defaultSettings('spec'), leaveGrace };
      const { revision } = await bucket.mutate(SETTINGS_KEY, () => settings);
      expect(await store.settings.view.shows(revision, 60_000)).toBe(true);
      return completeSettings(settings);
    };
    for (const leaveGrace of [1_000, 2_000]) {
      const expected = await stored(leaveGrace);
      expect(store.clusterSettings).toEqual(expected);
      expect(store.clusterSettings).toBe(store.clusterSettings);
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { Bus } from '../index.js';
import { connectPorts } from '../nats/connect.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

/** Longer than a single server is waited for, shorter than an election may take, ms. */
const SILENT_MS = 5_500;

describe('a read of a cluster that elects a leader', () => {
  let nats: TestNats;
  let bus: Bus;
  let silentUntil = 0;

  beforeAll(async () => {
    nats = await startTestNats();
    const ports = await connectPorts({ name: 'reader', servers: [nats.url] });
    const { messages, wire } = ports;
    const silent = (): boolean => performance.now() < silentUntil;
    const late = (): Promise<never> => Promise.reject(new MusterError('TIMEOUT', 'no answer'));
    const info: typeof messages.info = (stream, o) => (silent() ? late() : messages.info(stream, o));
    const read: typeof messages.read = (stream, o) => (silent() ? late() : messages.read(stream, o));
    const serverInfo = { name: 'n1', version: '2.15.1', cluster: 'c', connectUrls: [] };
    bus = new Bus({
      ...ports,
      codec: anyJson,
      messages: Object.assign(Object.create(messages) as typeof messages, { info, read }),
      wire: Object.create(wire, { serverInfo: { value: serverInfo } }) as typeof wire,
    });
    await bus.createBuckets();
    await bus.bucket('nodes').create('a-1', { n: 1 });
    await bus.emit('in-service', 'a-1', { node: 'a-1' });
    await bus.bucket('nodes').list();
  });
  afterAll(async () => {
    await bus?.close();
    await nats?.stop();
  });

  it('waits for it', async () => {
    silentUntil = performance.now() + SILENT_MS;
    const filters = ['muster.event.>'];
    const [list, back, on, at] = await Promise.all([
      bus.bucket('nodes').list(),
      bus.readBack(filters, { count: 10, keep: () => true }),
      bus.readOn(filters, { after: 0, count: 10 }),
      bus.lastUntil('muster.event.>', new Date(Date.now() + 60_000)),
    ]);
    expect(list.map((e) => e.key)).toEqual(['a-1']);
    expect(back.items).toHaveLength(1);
    expect(on.items).toHaveLength(1);
    expect(at.seq).toBe(1);
  });
});

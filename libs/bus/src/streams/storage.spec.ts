import { afterEach, describe, expect, it } from 'vitest';
import { Buckets, MusterError, ReadyStream } from '#contracts';
import { Bus, connectBus } from '../index.js';
import { connectPorts } from '../nats/connect.js';
import { connectionOf } from '../testing/connection-of.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let buses: Bus[] = [];
afterEach(async () => {
  await Promise.all(buses.map((b) => b.close()));
  await nats.stop();
});

const READS = /^\$JS\.API\.(STREAM\.MSG\.GET|CONSUMER\.)/;
/**
 * The one before the last: the server may carry a request out, so that a reader goes on, before it hands that request to
 * a spy. That of the stream before it was handed on by then.
 */
const LAST_SEEN_CREATED = `$JS.API.STREAM.CREATE.KV_${Buckets.at(-1)}`;

describe('the storage', () => {
  it('is not read before its last stream was created: nats-server 2.9 dies of a read in the middle of a creation', async () => {
    nats = await startTestNats();
    const connect = (name: string): Promise<Bus> => connectBus({ codec: anyJson, name, servers: [nats.url] });
    const [spy, ...others] = await Promise.all(['spy', 'a', 'b', 'c'].map(connect));
    buses = [spy as Bus, ...others];
    const asked: string[] = [];
    connectionOf(spy as Bus).subscribe('$JS.API.>', { callback: (_, m) => void asked.push(m.subject) });
    await (spy as Bus).flushed();

    const early = others.flatMap((bus) => [
      ...Buckets.map((bucket) => bus.bucket(bucket).get('nothing')),
      bus.bucket('nodes').list(),
    ]);
    // Two replicas of inventory start at once.
    await Promise.all(others.slice(0, 2).map((bus) => bus.createBuckets()));
    await Promise.all(early);
    await (spy as Bus).flushed();

    const created = asked.indexOf(LAST_SEEN_CREATED);
    const firstRead = asked.findIndex((subject) => READS.test(subject));
    expect(created).toBeGreaterThanOrEqual(0);
    expect(firstRead).toBeGreaterThan(created);
  });

  it('of an earlier Muster gets the buckets that it lacks, and those are not read before they are whole', async () => {
    nats = await startTestNats();
    const connect = (name: string): Promise<Bus> => connectBus({ codec: anyJson, name, servers: [nats.url] });
    const [inventory, gateway] = await Promise.all(['inventory', 'gateway'].map(connect));
    buses = [inventory as Bus, gateway as Bus];
    const nc = connectionOf(inventory as Bus);
    await (inventory as Bus).createBuckets();
    const written = await (inventory as Bus).bucket('leases').create('k', {});
    for (const stream of ['KV_tokens', 'KV_idempotency', ReadyStream.name])
      await nc.request(`$JS.API.STREAM.DELETE.${stream}`);
    await nc.request('$JS.API.STREAM.CREATE.MUSTER_READY', '{"name":"MUSTER_READY","subjects":["muster.ready"]}');

    const asked: string[] = [];
    nc.subscribe('$JS.API.>', { callback: (_, m) => void asked.push(m.subject) });
    await nc.flush();
    const early = (gateway as Bus).bucket('tokens').list();
    await connect('inventory').then((restarted) => (buses.push(restarted), restarted.createBuckets()));
    expect(await early).toEqual([]);
    await nc.flush();
    const firstRead = asked.findIndex((subject) => READS.test(subject) && subject.includes('tokens'));
    const created = asked.indexOf(LAST_SEEN_CREATED);
    expect(created).toBeGreaterThanOrEqual(0);
    expect(firstRead).toBeGreaterThan(created);
    expect((await (gateway as Bus).bucket('leases').get('k'))?.revision).toBe(written);
  });

  it('keeps answers to requests with an Idempotency-Key for a day, and all else for good', async () => {
    nats = await startTestNats();
    const bus = await connectBus({ codec: anyJson, name: 'a', servers: [nats.url] });
    buses = [bus];
    await bus.createBuckets();
    const age = async (bucket: string): Promise<number> =>
      (await connectionOf(bus).request(`$JS.API.STREAM.INFO.KV_${bucket}`)).json<{ config: { max_age: number } }>()
        .config.max_age;
    expect(await age('idempotency')).toBe(24 * 3_600 * 1e9);
    expect(await age('tokens')).toBe(0);
  });

  it('is waited for where no server answers for a stream: as long as was asked, and that is said', async () => {
    nats = await startTestNats();
    const ports = await connectPorts({ name: 'inventory', servers: [nats.url] });
    const { messages } = ports;
    let silent = true;
    const info: typeof messages.info = (stream, o) =>
      silent && stream === 'KV_nodes'
        ? Promise.reject(new MusterError('TIMEOUT', 'no answer'))
        : messages.info(stream, o);
    const waits: unknown[] = [];
    const warn = (facts: object, line: string): void => {
      waits.push({ ...facts, line });
      // Not before it waits the second time.
      silent = waits.length < 2;
    };
    const bus = new Bus({
      ...ports,
      messages: Object.assign(Object.create(messages) as typeof messages, { info }),
      log: { ...ports.log, warn },
    });
    buses = [bus];
    await expect(bus.createBuckets()).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(waits).toEqual([]);
    await expect(bus.createBuckets({ waitMs: 300 })).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
      message: expect.stringMatching(/^stream KV_nodes was waited for for 0\.3 s: a majority of its NATS servers/),
    });
    await bus.createBuckets({ waitMs: 60_000 });
    const said = { stream: 'KV_nodes', reason: 'no answer', line: 'waits for a stream that no server answers for' };
    expect(waits).toEqual([said, said]);
    expect(await bus.hasStream('KV_nodes')).toBe(true);
  });
});

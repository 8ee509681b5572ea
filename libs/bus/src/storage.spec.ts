import { afterEach, describe, expect, it } from '@jest/globals';
import { Buckets, Streams } from '#contracts';
import { connectBus, type Bus } from './index.js';
import { startTestNats, type TestNats } from './testing/nats.js';

let nats: TestNats;
let buses: Bus[] = [];
afterEach(async () => {
  await Promise.all(buses.map((b) => b.close()));
  await nats.stop();
});

const READS = /^\$JS\.API\.(STREAM\.MSG\.GET|CONSUMER\.)/;
const LAST_CREATED = `$JS.API.STREAM.CREATE.${Streams.ready.name}`;

describe('the storage', () => {
  it('is not read before its last stream was created: nats-server 2.9 dies of a read in the middle of a creation', async () => {
    nats = await startTestNats();
    const connect = (name: string): Promise<Bus> => connectBus({ name, servers: [nats.url] });
    const [spy, ...others] = await Promise.all(['spy', 'a', 'b', 'c'].map(connect));
    buses = [spy as Bus, ...others];
    const asked: string[] = [];
    (spy as Bus).nc.subscribe('$JS.API.>', { callback: (_, m) => void asked.push(m.subject) });
    await (spy as Bus).nc.flush();

    const early = others.flatMap((bus) => [
      ...Buckets.map((bucket) => bus.bucket(bucket).get('nothing')),
      bus.bucket('nodes').list(),
    ]);
    // Two replicas of inventory start at once.
    await Promise.all(others.slice(0, 2).map((bus) => bus.createBuckets()));
    await Promise.all(early);
    await (spy as Bus).nc.flush();

    const created = asked.indexOf(LAST_CREATED);
    const firstRead = asked.findIndex((subject) => READS.test(subject));
    expect(created).toBeGreaterThanOrEqual(0);
    expect(firstRead).toBeGreaterThan(created);
  }, 60_000);
});

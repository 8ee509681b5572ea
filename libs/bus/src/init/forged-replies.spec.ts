import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Buckets, inboxPrefix, Streams, Subjects, type BucketName } from '#contracts';
import { proofOf } from '#contracts/keys/nkey.js';
import { connectBus, credentialsFile, readCredentials, type Bus, type BusPorts } from '../index.js';
import { bucketStream, subjectOf } from '../store-names/kv-keys.js';
import { connectPorts } from '../nats/connect.js';
import { connectionOf } from '../testing/connection-of.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { installedAndNewer } from '../testing/newer-nats.js';

/**
 * A service whose credentials were stolen: it asks for all that it may ask for, and wants each answer stored where it may
 * not write. nats-server does not check the reply subject of a request, nor where a consumer sends.
 */
const thieves = ['detector', 'provisioner', 'fencer', 'gateway'] as const;
type Thief = (typeof thieves)[number];

const leases = ['detector', 'fencer', 'conductor', 'job.j1'];
/** Name of a place → its subject, and the stream that keeps it. */
const places: [name: string, subject: string, stream: string][] = [
  ...Buckets.flatMap((b): [string, string, string][] =>
    b === 'leases'
      ? leases.map((l) => [`lease ${l}`, subjectOf(b, l), bucketStream(b)])
      : [[`bucket ${b}`, subjectOf(b, 'zzz'), bucketStream(b)]],
  ),
  ['verdicts', Subjects.verdict('zzz'), Streams.events.name],
  ['events', Subjects.event('audit', 'zzz'), Streams.events.name],
  ['logs of jobs', Subjects.log('zzz'), Streams.logs.name],
];
const streams = [Streams.events.name, Streams.logs.name, ...Buckets.map(bucketStream)];
/** What other services believe that hears it. */
const heard = [Subjects.beacon(), Subjects.report('n1'), Subjects.rpc('inventory', 'x'), Subjects.command('fence')];

/** Every request to the store that answers with something, below either prefix. */
const requests = (stream: string): string[] =>
  ['$JS.API', 'muster.js'].flatMap((api) =>
    ['STREAM.INFO.S', 'STREAM.MSG.GET.S', 'CONSUMER.CREATE.S', 'CONSUMER.NAMES.S', 'CONSUMER.MSG.NEXT.S.c', 'INFO'].map(
      (verb) => `${api}.${verb.replace('.S', `.${stream}`)}`,
    ),
  );

describe.each(installedAndNewer())('with %s, a service that was broken into', (_name, program) => {
  let nats: TestNats;
  let inventory: Bus;
  let store: BusPorts;
  const open: NatsConnection[] = [];

  const as = async (user: Thief): Promise<NatsConnection> => {
    const credentials = readCredentials(credentialsFile(nats.dir, user));
    const nc = await connect({
      servers: [nats.url],
      authenticator: proofOf(credentials),
      inboxPrefix: inboxPrefix(user),
      reconnect: false,
    });
    open.push(nc);
    return nc;
  };

  const ends = async (): Promise<Map<string, number>> =>
    new Map(await Promise.all(streams.map(async (s) => [s, (await store.messages.info(s)).lastSeq] as const)));
  const lasts = async (): Promise<Map<string, number>> =>
    new Map(
      await Promise.all(
        places.map(
          async ([name, subject, stream]) => [name, (await store.messages.last(stream, subject))?.seq ?? 0] as const,
        ),
      ),
    );

  beforeAll(async () => {
    nats = await startTestNats({ users: true, ...(program !== undefined && { program }) });
    const o = {
      name: 'inventory',
      servers: [nats.url],
      credentials: readCredentials(credentialsFile(nats.dir, 'inventory')),
    };
    inventory = await connectBus(o);
    await inventory.createBuckets();
    store = await connectPorts(o);
  });

  afterAll(async () => {
    await Promise.all(open.map((nc) => nc.close()));
    await store?.wire.close();
    await inventory?.close();
    await nats?.stop();
  });

  it.each(thieves)('%s: has no answer stored, sent or told where it may not publish', async (thief) => {
    const nc = await as(thief);
    const told: string[] = [];
    for (const subject of heard)
      inventory.subscribe(
        subject === Subjects.rpc('inventory', 'x') ? Subjects.rpc('inventory', '>') : subject,
        (_, at) => told.push(at),
      );
    await inventory.flushed();

    // What it may publish itself: whatever arrives there is no forgery.
    const none = await lasts();
    for (const [, subject] of places) nc.publish(subject, '{}');
    await nc.flush();
    await eventually(inventory);
    const mine = await lasts();
    const may = new Set(places.filter(([name]) => mine.get(name) !== none.get(name)).map(([name]) => name));
    const mayIn = new Set(places.filter(([name]) => may.has(name)).map(([, , stream]) => stream));
    const before = { ends: await ends(), lasts: mine };
    told.length = 0;

    const replies = [...places.map(([, subject]) => subject), ...heard];
    const asked = streams.flatMap(requests);
    const stored = places.filter(([name]) => may.has(name)).map(([, subject]) => subject);
    for (const reply of replies) {
      for (const subject of [...asked, ...stored]) nc.publish(subject, '{}', { reply });
      for (const stream of streams)
        for (const api of ['$JS.API', 'muster.js'])
          nc.publish(`${api}.CONSUMER.CREATE.${stream}`, consumer(stream, reply), {
            reply: `${inboxPrefix(thief)}.x`,
          });
      for (const stream of streams)
        for (const reading of ['x', reply]) {
          const request = JSON.stringify({ stream, filter: '>', start: { from: 'all' }, reading });
          nc.publish(Subjects.read(thief), request, { reply });
        }
      await nc.flush();
    }
    await eventually(inventory);

    const after = { ends: await ends(), lasts: await lasts() };
    const forged = places
      .map(([name]) => name)
      .filter((name) => !may.has(name) && after.lasts.get(name) !== before.lasts.get(name));
    expect(forged).toEqual([]);
    const changed = streams.filter((s) => !mayIn.has(s) && after.ends.get(s) !== before.ends.get(s));
    expect(changed).toEqual([]);
    const mayTell =
      thief === 'detector' ? [Subjects.beacon()] : thief === 'gateway' ? [Subjects.rpc('inventory', 'x')] : [];
    expect(told.filter((at) => !mayTell.includes(at))).toEqual([]);
  });

  it.each(thieves)('%s: reads what it may, to its end and on, and nothing else', async (user) => {
    const bus = await connectBus({
      name: user,
      servers: [nats.url],
      credentials: readCredentials(credentialsFile(nats.dir, user)),
    });
    open.push(connectionOf(bus));
    const bucket: BucketName = user === 'gateway' ? 'tokens' : 'nodes';
    for (let i = 0; i < 300; i++) await inventory.bucket(bucket).mutate(`${user}-${i}`, () => ({ i }) as never);
    const keys: string[] = [];
    let next: (key: string) => void = () => undefined;
    const live = new Promise<void>((resolve) => {
      bus.bucket(bucket).watch({
        onChange: (key) => {
          keys.push(key);
          next(key);
        },
        onUnreadable: ({ key }) => {
          keys.push(key);
          next(key);
        },
        onLive: resolve,
      });
    });
    await live;
    expect(keys.filter((key) => key.startsWith(`${user}-`))).toHaveLength(300);
    const later = new Promise<string>((resolve) => (next = resolve));
    await inventory.bucket(bucket).mutate(`${user}-later`, () => ({ i: 0 }) as never);
    expect(await later).toBe(`${user}-later`);
    const { messages, wire } = await connectPorts({
      name: user,
      servers: [nats.url],
      credentials: readCredentials(credentialsFile(nats.dir, user)),
    });
    const forbidden = messages.read('KV_admission', {
      filter: '$KV.admission.>',
      start: { from: 'all' },
      onMessage: () => undefined,
      onLive: () => undefined,
      onDoubt: () => undefined,
    });
    await expect(forbidden).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await wire.close();
  });
});

/** A consumer that sends all of the stream to a subject. */
const consumer = (stream: string, to: string): string =>
  JSON.stringify({
    stream_name: stream,
    config: { deliver_subject: to, deliver_policy: 'all', ack_policy: 'none', replay_policy: 'instant' },
  });

/** All that the server had to do for others before is done: it has stored a message of its own for us since. */
async function eventually(bus: Bus): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await bus.emit('audit', 'end', {} as never);
    await bus.flushed();
  }
}

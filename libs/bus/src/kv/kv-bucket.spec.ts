import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MusterError, type RecordCodec } from '#contracts';
import { Bus, connectBus, type Entry, type KvBucket } from '../index.js';
import { connectPorts } from '../nats/connect.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { startProxy, type TestProxy } from '../testing/proxy.js';

interface Thing {
  n: number;
}

let nats: TestNats;
let bus: Bus;
let other: Bus;

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ codec: anyJson, name: 'spec', servers: [nats.url] });
  other = await connectBus({ codec: anyJson, name: 'other', servers: [nats.url] });
  await Promise.all([bus.createBuckets(), other.createBuckets()]);
});

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

  it('has pairs of names for keys, and lists them as they were given', async () => {
    const things = bus.bucket<Thing>('workers');
    await things.create('x=a.1~b-2', { n: 1 });
    expect((await things.list()).map((e) => e.key)).toEqual(['x=a.1~b-2']);
    await expect(things.create('a/b', { n: 1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
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

describe('a bucket whose connection was closed', () => {
  it('is not waited for: nothing comes back that was closed', async () => {
    const closed = await connectBus({ codec: anyJson, name: 'closed', servers: [nats.url] });
    const things = closed.bucket<Thing>('nodes');
    await things.get('a');
    await closed.close();
    const begun = performance.now();
    for (const work of [things.get('a'), things.create('b', { n: 1 })])
      await expect(work).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    expect(performance.now() - begun).toBeLessThan(4000);
  });
});

describe('a write whose acknowledgement is lost', () => {
  let proxy: TestProxy;
  let far: Bus;
  beforeAll(async () => {
    proxy = await startProxy(nats.url);
    far = await connectBus({ codec: anyJson, name: 'far', servers: [proxy.url] });
    await far.bucket('jobs').list();
  });
  afterAll(async () => {
    await far?.close();
    await proxy?.close();
  });

  /**
   * Lets `write` reach the server, but not the server's answer; resolves when the server has carried it out.
   * @param readsFirst it mutes the proxy itself, once it has read
   */
  async function loseAnswer<R>(
    write: () => Promise<R>,
    meanwhile?: () => Promise<unknown>,
    readsFirst = false,
  ): Promise<R> {
    const watched = new Promise<void>((resolve) => {
      let live = false;
      const watch = other.bucket('jobs').watch({
        onChange: () => live && (void watch.close(), resolve()),
        onLive: () => {
          live = true;
          if (!readsFirst) proxy.mute();
          written = write();
          written.catch(() => undefined);
        },
      });
    });
    let written: Promise<R> | undefined;
    await watched;
    await meanwhile?.();
    proxy.cut();
    proxy.heal();
    return written!;
  }

  it('is adopted: it was stored once, and its revision is returned', async () => {
    const jobs = far.bucket<Thing>('jobs');
    const first = await jobs.create('a', { n: 1 });
    const second = await loseAnswer(() => jobs.update('a', { n: 2 }, first));
    expect(await other.bucket<Thing>('jobs').get('a')).toEqual({ key: 'a', value: { n: 2 }, revision: second });
  });

  it('is adopted after the server was killed and has forgotten its answers', async () => {
    const jobs = far.bucket<Thing>('jobs');
    const created = await loseAnswer(
      () => jobs.create('b', { n: 1 }),
      () => nats.restart(),
    );
    expect(await jobs.get('b')).toEqual({ key: 'b', value: { n: 1 }, revision: created });
  });

  it('does not undo what another wrote after it', async () => {
    const jobs = far.bucket<Thing>('jobs');
    const first = await jobs.create('c', { n: 1 });
    const mine = await loseAnswer(
      () => jobs.update('c', { n: 2 }, first),
      () => other.bucket<Thing>('jobs').mutate('c', (e) => ({ n: e!.value.n + 10 })),
    );
    const now = await jobs.get('c');
    expect(now?.value).toEqual({ n: 12 });
    expect(now?.revision).toBeGreaterThan(mine);
  });

  describe('and over which another has written, at a server that has forgotten its answers', () => {
    const jobs = (): KvBucket<Thing> => far.bucket<Thing>('jobs');
    const overtake = (key: string) => async (): Promise<void> => {
      await other.bucket<Thing>('jobs').mutate(key, (e) => ({ n: e!.value.n + 10 }));
      await nats.restart();
    };

    it('is no defeat: the conflict says that it may have been written', async () => {
      const first = await jobs().create('d', { n: 1 });
      const update = loseAnswer(() => jobs().update('d', { n: 2 }, first), overtake('d'));
      await expect(update).rejects.toMatchObject({ code: 'REVISION_CONFLICT', facts: { inDoubt: true } });
      await expect(jobs().update('d', { n: 3 }, first)).rejects.toMatchObject({
        code: 'REVISION_CONFLICT',
        facts: { bucket: 'jobs', key: 'd' },
      });
      await expect(jobs().update('d', { n: 3 }, first)).rejects.not.toHaveProperty('facts.inDoubt');
    });

    it('is not written a second time where what it created was deleted', async () => {
      const create = loseAnswer(
        () => jobs().create('e', { n: 1 }),
        async () => {
          await other.bucket<Thing>('jobs').delete('e');
          await nats.restart();
        },
      );
      await expect(create).rejects.toMatchObject({ code: 'REVISION_CONFLICT', facts: { inDoubt: true } });
      expect(await jobs().get('e')).toBeUndefined();
    });

    it('is not told as refused where the second decision refuses what the first one did', async () => {
      await jobs().create('f', { n: 1 });
      const once = (e: Entry<Thing> | undefined): Thing => {
        if (e!.value.n > 1) throw new MusterError('NODE_BUSY', 'it is done already');
        proxy.mute();
        return { n: 2 };
      };
      const mutate = loseAnswer(() => jobs().mutate('f', once), overtake('f'), true);
      await expect(mutate).rejects.toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringContaining('it is done already') as string,
      });
      await expect(jobs().mutate('f', once)).rejects.toMatchObject({ code: 'NODE_BUSY' });
    });

    it('is not told as refused where nobody can read what was written over it', async () => {
      const decode: RecordCodec['decode'] = (...of) =>
        of[2].includes('"n":12') ? { why: 'it is too new' } : anyJson.decode(...of);
      const old = await connectBus({ codec: { ...anyJson, decode }, name: 'old', servers: [proxy.url] });
      await old.bucket<Thing>('jobs').create('g', { n: 1 });
      const mutate = loseAnswer(
        () => old.bucket<Thing>('jobs').mutate('g', () => (proxy.mute(), { n: 2 })),
        overtake('g'),
        true,
      );
      await expect(mutate).rejects.toMatchObject({ code: 'TIMEOUT', cause: { code: 'RECORD_UNREADABLE' } });
      await old.close();
    });
  });
});

it('is written by the codec of its bus, and read by it', async () => {
  const doubled: RecordCodec = {
    decode: (_bucket, _key, stored) => ({ value: { n: (JSON.parse(stored) as Thing).n / 2 } }),
    encode: (_bucket, value) => JSON.stringify({ n: (value as Thing).n * 2 }),
  };
  const own = await connectBus({ codec: doubled, name: 'own', servers: [nats.url] });
  const things = own.bucket<Thing>('tokens');
  await things.create('doubled', { n: 4 });
  expect((await bus.bucket<Thing>('tokens').get('doubled'))?.value).toEqual({ n: 8 });
  expect((await things.get('doubled'))?.value).toEqual({ n: 4 });
  await own.close();
});

/** A bus to which something happens between a read that decides and the write. */
async function connectSlowly(
  o: Omit<Parameters<typeof connectPorts>[0], 'servers'>,
  afterRead: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Bus> {
  const ports = await connectPorts({ ...o, servers: [nats.url] });
  const last = async (...of: Parameters<typeof ports.messages.last>) => {
    const m = await ports.messages.last(...of);
    await afterRead();
    return m;
  };
  return new Bus({ ...ports, messages: Object.create(ports.messages, { last: { value: last } }) as never });
}

describe('a value that stands in clear', () => {
  /** Seals every `n` that is below 100. */
  const seal = {
    open: (_bucket: string, stored: object) => stored,
    seal: (_bucket: string, value: unknown) => {
      const { n } = value as Thing;
      return n < 100 ? { n: n + 100 } : value;
    },
  };
  const owner = (afterRead?: () => Promise<unknown>): Promise<Bus> =>
    connectSlowly({ codec: anyJson, seal, name: 'owner' }, afterRead);

  it('is stored sealed, and left alone where it is sealed already or gone', async () => {
    const own = await owner();
    const [things, stored] = [own.bucket<Thing>('tokens'), bus.bucket<Thing>('tokens')];
    await stored.create('t', { n: 1 });
    const seen = (await things.get('t'))!;
    await things.sealStored(seen);
    const sealed = await stored.get('t');
    expect(sealed?.value).toEqual({ n: 101 });
    for (const entry of [seen, sealed!]) await things.sealStored(entry);
    expect(await stored.get('t')).toEqual(sealed);
    await stored.delete('t');
    await things.sealStored(seen);
    expect(await stored.get('t')).toBeUndefined();
    await own.close();
  });

  it('is not written over what was written meanwhile', async () => {
    const stored = bus.bucket<Thing>('tokens');
    await stored.create('u', { n: 1 });
    const own = await owner(() => stored.mutate('u', (e) => ({ n: e!.value.n + 1 })));
    await own.bucket<Thing>('tokens').sealStored({ key: 'u', value: { n: 1 }, revision: 1 });
    await own.close();
    expect((await stored.get('u'))?.value.n).toBeLessThan(100);
  });
});

describe('a value of an older schema', () => {
  const older = (n: number): Promise<number> => bus.bucket<{ n: number }>('tokens').create(`m${n}`, { n });
  /** The second schema is the first with its number. */
  const encode: RecordCodec['encode'] = (_, value) => JSON.stringify({ ...(value as object), schema: 2 });
  const reader = (afterRead?: () => Promise<unknown>): Promise<Bus> =>
    connectSlowly({ codec: { ...anyJson, encode }, name: 'reader' }, afterRead);

  it('is stored in the newest one, and left alone where it is there already or gone', async () => {
    await older(1);
    const own = await reader();
    const [things, stored] = [own.bucket<Thing>('tokens'), bus.bucket<Thing>('tokens')];
    expect(await things.migrateStored('m1')).toBe(true);
    const migrated = await stored.get('m1');
    expect(migrated?.value).toEqual({ n: 1, schema: 2 });
    expect(await things.migrateStored('m1')).toBe(true);
    expect(await stored.get('m1')).toEqual(migrated);
    await stored.delete('m1');
    expect(await things.migrateStored('m1')).toBe(true);
    expect(await stored.get('m1')).toBeUndefined();
    await own.close();
  });

  it('is not written over what was written meanwhile, and the answer says so', async () => {
    await older(2);
    const stored = bus.bucket<Thing>('tokens');
    const own = await reader(() => stored.mutate('m2', (e) => ({ n: e!.value.n + 1 })));
    expect(await own.bucket<Thing>('tokens').migrateStored('m2')).toBe(false);
    await own.close();
    expect((await stored.get('m2'))?.value).not.toHaveProperty('schema');
  });
});

describe('a bucket that does not exist yet', () => {
  it('is waited for', async () => {
    const fresh = await startTestNats();
    const [early, maker] = await Promise.all([
      connectBus({ codec: anyJson, name: 'early', servers: [fresh.url] }),
      connectBus({ codec: anyJson, name: 'maker', servers: [fresh.url] }),
    ]);
    const created = early.bucket<Thing>('nodes').create('a', { n: 1 });
    const listed = early.bucket<Thing>('settings').list();
    const live = early.bucket<Thing>('incidents').view();
    await maker.createBuckets();
    expect(await created).toBeGreaterThan(0);
    expect(await listed).toEqual([]);
    expect((await live).entries()).toEqual([]);
    await early.close();
    await maker.close();
    await fresh.stop();
  });
});

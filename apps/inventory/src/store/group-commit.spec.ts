import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectBus, type Bus, type KvBucket } from '#bus';
import { anyJson } from '#bus/testing/any-json.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { MusterError } from '#contracts';
import { GroupCommit, type GroupChange } from './group-commit.js';

/** How often each name was taken. */
type Tally = Record<string, number>;

let nats: TestNats;
let bus: Bus;
let bucket: KvBucket<Tally>;
let key = '';
let writes = 0;

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ codec: anyJson, name: 'spec', servers: [nats.url] });
  await bus.createBuckets();
  bucket = bus.bucket<Tally>('admission');
});

afterAll(async () => {
  await bus?.close();
  await nats?.stop();
});

beforeEach(() => {
  key = `tally-${Math.random().toString(36).slice(2)}`;
  writes = 0;
});

/** As a process has one: `rounds` says how often the value was read. */
function aCommitter(o: { beforeWrite?: () => Promise<void> } = {}) {
  const counted: Pick<KvBucket<Tally>, 'get' | 'create' | 'update'> = {
    get: (k) => bucket.get(k),
    create: async (k, v) => {
      await o.beforeWrite?.();
      writes += 1;
      return bucket.create(k, v);
    },
    update: async (k, v, revision) => {
      await o.beforeWrite?.();
      writes += 1;
      return bucket.update(k, v, revision);
    },
  };
  return new GroupCommit<Tally, object>(counted, key, {}, () => ({}), bus.clock);
}

const take = (name: string): GroupChange<Tally, object, void, number> => ({
  read: async () => Promise.resolve(),
  decide: (tally) => {
    const count = (tally[name] ?? 0) + 1;
    return { next: { ...tally, [name]: count }, answer: count };
  },
});

/** Refuses where the name is taken, as it stands at its turn. */
const takeOnce = (name: string): GroupChange<Tally, object, void, string> => ({
  ...take(name),
  decide: (tally) => {
    if (tally[name] !== undefined) throw new MusterError('NODE_RESERVED', `${name} is taken`);
    return { next: { ...tally, [name]: 1 }, answer: name };
  },
});

const value = async (): Promise<Tally | undefined> => (await bucket.get(key))?.value;

describe('a group commit', () => {
  it('decides those that wait one after the other, and writes them at once', async () => {
    const sut = aCommitter();
    const counts = await Promise.all(Array.from({ length: 50 }, () => sut.change(take('a'))));
    expect([...counts].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(await value()).toEqual({ a: 50 });
    expect(writes).toBeLessThanOrEqual(2);
  });

  it('refuses one without the others, and writes nothing where all are refused', async () => {
    const sut = aCommitter();
    const both = await Promise.allSettled([
      sut.change(takeOnce('a')),
      sut.change(takeOnce('a')),
      sut.change(take('b')),
    ]);
    expect(both.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(both[1]).toMatchObject({ reason: { code: 'NODE_RESERVED' } });
    const before = await bucket.get(key);
    await expect(sut.change(takeOnce('a'))).rejects.toMatchObject({ code: 'NODE_RESERVED' });
    expect(await bucket.get(key)).toEqual(before);
  });

  it('decides the whole group anew where another process was faster', async () => {
    let faster: (() => Promise<void>) | undefined = async () => {
      faster = undefined;
      await bucket.create(key, { a: 1 });
    };
    const sut = aCommitter({ beforeWrite: async () => faster?.() });
    const both = await Promise.allSettled([sut.change(takeOnce('a')), sut.change(takeOnce('b'))]);
    expect(both).toMatchObject([
      { status: 'rejected', reason: { code: 'NODE_RESERVED' } },
      { status: 'fulfilled', value: 'b' },
    ]);
    expect(await value()).toEqual({ a: 1, b: 1 });
  });

  it('tells of nobody that he was refused whose first try may have been written, and of the others what refused them', async () => {
    await bucket.create(key, { c: 1 });
    let lost = true;
    const sut = aCommitter({
      beforeWrite: async () => {
        if (!lost) return;
        lost = false;
        await bucket.mutate(key, (e) => ({ ...e!.value, a: 1, b: 1 }));
        throw new MusterError('REVISION_CONFLICT', 'its answer was lost', { inDoubt: true });
      },
    });
    const done = await Promise.allSettled(['a', 'c', 'd'].map((name) => sut.change(takeOnce(name))));
    expect(done).toMatchObject([
      { reason: { code: 'TIMEOUT' } },
      { reason: { code: 'NODE_RESERVED' } },
      { status: 'fulfilled' },
    ]);
    await expect(sut.change(takeOnce('a'))).rejects.toMatchObject({ code: 'NODE_RESERVED' });
  });

  it('loses nothing among several processes', async () => {
    const processes = [aCommitter(), aCommitter(), aCommitter()];
    await Promise.all(processes.flatMap((p) => Array.from({ length: 30 }, () => p.change(take('a')))));
    expect(await value()).toEqual({ a: 90 });
  });

  it('begins to look only when the value was read, and hands a failed look to its own caller alone', async () => {
    const sut = aCommitter();
    await sut.change(take('a'));
    const looked: Tally[] = [];
    const watching: GroupChange<Tally, object, string, string> = {
      read: async (tally) => {
        looked.push(tally);
        return Promise.resolve('facts');
      },
      decide: (_tally, facts) => ({ answer: facts }),
    };
    const failing: GroupChange<Tally, object, void, void> = {
      read: () => Promise.reject(new MusterError('BUS_UNAVAILABLE', 'gone')),
      decide: () => ({ next: {}, answer: undefined }),
    };
    const done = await Promise.allSettled([sut.change(watching), sut.change(failing)]);
    expect(done).toMatchObject([{ value: 'facts' }, { reason: { code: 'BUS_UNAVAILABLE' } }]);
    expect(looked).toEqual([{ a: 1 }]);
    expect(await value()).toEqual({ a: 1 });
  });

  it('tells everyone in the group when nobody knows whether it was written', async () => {
    const sut = aCommitter({ beforeWrite: () => Promise.reject(new MusterError('TIMEOUT', 'no answer')) });
    const both = await Promise.allSettled([sut.change(take('a')), sut.change(take('b'))]);
    expect(both).toMatchObject([{ reason: { code: 'TIMEOUT' } }, { reason: { code: 'TIMEOUT' } }]);
  });
});

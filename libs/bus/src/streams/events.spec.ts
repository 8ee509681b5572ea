import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Subjects, type MusterEvent, type Verdict } from '#contracts';
import { connectBus, matches, type Bus, type Closable } from '../index.js';
import { coveringFilter } from './subject-filter.js';
import { connectionOf } from '../testing/connection-of.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let bus: Bus;
let other: Bus;
let open: Closable[];

beforeEach(async () => {
  nats = await startTestNats();
  [bus, other] = await Promise.all([
    connectBus({ name: 'one', servers: [nats.url] }),
    connectBus({ name: 'two', servers: [nats.url] }),
  ]);
  await bus.createBuckets();
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map((c) => c.close()));
  await bus?.close();
  await other?.close();
  await nats?.stop();
});

const inService = (b: Bus, node: string, id?: string) => b.emit('in-service', node, { node }, id ? { id } : {});
const anyEvent = Subjects.event('*', '*');

/** What was heard, and a way to wait for it. */
function hearing() {
  const heard: string[] = [];
  let wake: () => void = () => undefined;
  return {
    heard,
    hear: (what: string) => {
      heard.push(what);
      wake();
    },
    until: async (n: number) => {
      while (heard.length < n) await new Promise<void>((resolve) => (wake = resolve));
      return heard;
    },
    /** For a durable consumer around a break: it may tell a thing twice, so counting says nothing. */
    untilHeard: async (what: string) => {
      while (!heard.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

describe('a durable consumer', () => {
  it('takes events that were there before it, in order, whole', async () => {
    await inService(bus, 'n1', 'id1');
    await bus.publishVerdict({ node: 'n.1', epoch: 3, seq: 1 } as Verdict);
    const values: unknown[] = [];
    const h = hearing();
    open.push(
      bus.consume('c', [anyEvent, Subjects.verdict('*')], async (subject, value) => {
        values.push(value);
        await Promise.resolve(h.hear(subject));
      }),
    );
    expect(await h.until(2)).toEqual(['muster.event.in-service.n1', 'muster.verdict.n=2E1']);
    expect(values[0]).toMatchObject({ id: 'id1', kind: 'in-service', key: 'n1', source: 'one', data: { node: 'n1' } });
    expect(values[1]).toEqual({ node: 'n.1', epoch: 3, seq: 1 });
  });

  it('takes an event whose key is no subject', async () => {
    const h = hearing();
    open.push(bus.consume('c', [anyEvent], async (_, v) => Promise.resolve(h.hear((v as MusterEvent).key))));
    await inService(bus, 'two words > *');
    await inService(bus, '');
    expect(await h.until(2)).toEqual(['two words > *', '']);
  });

  it('takes one of two messages with the same id', async () => {
    const h = hearing();
    await inService(bus, 'n1', 'same');
    await inService(other, 'n1', 'same');
    await bus.publishVerdict({ node: 'n1', epoch: 1, seq: 1 } as Verdict);
    await bus.publishVerdict({ node: 'n1', epoch: 1, seq: 1 } as Verdict);
    await inService(bus, 'n2');
    open.push(bus.consume('c', ['muster.>'], async (s) => Promise.resolve(h.hear(s))));
    expect(await h.until(3)).toEqual(['muster.event.in-service.n1', 'muster.verdict.n1', 'muster.event.in-service.n2']);
  });

  it('gets a refused message again, with the count of its deliveries', async () => {
    const h = hearing();
    open.push(
      bus.consume('c', [anyEvent], async (_, value, { deliveries }) => {
        await Promise.resolve(h.hear(`${(value as MusterEvent).key} ${deliveries}`));
        if (deliveries < 3) throw new Error('not now');
      }),
    );
    await inService(bus, 'n1');
    expect(await h.until(3)).toEqual(['n1 1', 'n1 2', 'n1 3']);
  });

  it('gives a message up after five refusals, as a dead letter that says why', async () => {
    const h = hearing();
    open.push(
      bus.consume('c', [Subjects.event('in-service', '*')], async (_s, _v, { deliveries }) => {
        await Promise.resolve(h.hear(`try ${deliveries}`));
        throw new Error('never');
      }),
    );
    const letter = new Promise<MusterEvent<'dead-letter'>>((resolve) => {
      open.push(
        other.follow([Subjects.event('dead-letter', '*')], { fromSeq: 1 }, (_, v) =>
          resolve(v as MusterEvent<'dead-letter'>),
        ),
      );
    });
    await inService(bus, 'n1');
    expect((await letter).data).toMatchObject({
      consumer: 'c',
      subject: 'muster.event.in-service.n1',
      deliveries: 5,
      error: 'never',
      value: { data: { node: 'n1' } },
    });
    expect(h.heard).toEqual(['try 1', 'try 2', 'try 3', 'try 4', 'try 5']);
  });

  it('is shared: each message goes to one replica, and to another when the first vanished with it', async () => {
    const taken = hearing();
    let release: () => void = () => undefined;
    bus.consume('c', [anyEvent], async () => {
      taken.hear('first');
      await new Promise<void>((resolve) => (release = resolve));
    });
    await inService(other, 'n1');
    await taken.until(1);
    const h = hearing();
    open.push(
      other.consume('c', [anyEvent], async (s, _, { deliveries }) => Promise.resolve(h.hear(`${s} ${deliveries}`))),
    );
    // As when its process dies: nothing is said any more.
    await connectionOf(bus).close();
    await h.until(1);
    expect(h.heard).toEqual(['muster.event.in-service.n1 2']);
    release();
  });

  it('keeps a message while its handler works longer than the acknowledgement may take', async () => {
    const h = hearing();
    open.push(
      bus.consume('c', [anyEvent], async (subject, _v, { deliveries }) => {
        if (subject.endsWith('.slow')) await new Promise((resolve) => setTimeout(resolve, 4000));
        h.hear(`${subject.split('.').at(-1)} ${deliveries}`);
      }),
    );
    await inService(bus, 'slow');
    await inService(bus, 'next');
    expect(await h.until(2)).toEqual(['slow 1', 'next 1']);
  });

  it('goes on where it was after kill -9 of the server', async () => {
    const h = hearing();
    open.push(bus.consume('c', [anyEvent], async (_, v) => Promise.resolve(h.hear((v as MusterEvent).key))));
    await inService(bus, 'n1');
    await h.until(1);
    await nats.kill();
    const late = inService(other, 'n2');
    await nats.restart();
    await late;
    // The acknowledgement of the first may have died with the server, and it comes again: at least once.
    await h.untilHeard('n2');
    expect(new Set(h.heard)).toEqual(new Set(['n1', 'n2']));
  });
});

describe('a follower', () => {
  it('begins where it is told: at a sequence, with the last so many, or with what is new', async () => {
    for (let i = 1; i <= 30; i++) await inService(bus, `n${i}`);
    await bus.emit('node-created', 'x', { node: 'x' });
    const [from, last, none] = [hearing(), hearing(), hearing()];
    const only = [Subjects.event('in-service', '*')];
    const key = (v: unknown) => (v as MusterEvent).key;
    open.push(bus.follow(only, { fromSeq: 29 }, (_, v) => from.hear(key(v))));
    open.push(bus.follow(only, { last: 3 }, (_, v) => last.hear(key(v))));
    expect(await from.until(2)).toEqual(['n29', 'n30']);
    expect(await last.until(3)).toEqual(['n28', 'n29', 'n30']);
    const live = new Promise<void>((resolve) => {
      open.push(bus.follow(only, { newOnly: true, onLive: resolve }, (_, v) => none.hear(key(v))));
    });
    await live;
    await inService(bus, 'n31');
    expect(await none.until(1)).toEqual(['n31']);
    expect(await last.until(4)).toContain('n31');
    const all = hearing();
    open.push(bus.follow(only, { last: 1000 }, (_, v) => all.hear(key(v))));
    expect((await all.until(31))[0]).toBe('n1');
  });

  it('tells each message once and in order over kill -9 of the server', async () => {
    const h = hearing();
    open.push(bus.follow([anyEvent], { fromSeq: 1 }, (_, v) => h.hear((v as MusterEvent).key)));
    for (let i = 0; i < 50; i++) await inService(other, `a${i}`);
    await nats.restart();
    for (let i = 0; i < 50; i++) await inService(other, `b${i}`);
    await h.until(100);
    expect(h.heard).toEqual([
      ...Array.from({ length: 50 }, (_, i) => `a${i}`),
      ...Array.from({ length: 50 }, (_, i) => `b${i}`),
    ]);
  });

  it('holds the server back while it is slow, and loses nothing', async () => {
    const big = 'x'.repeat(100_000);
    for (let i = 0; i < 100; i++)
      await bus.emit('audit', 's', { by: 'me', action: big, subject: String(i), detail: '', outcome: 'accepted' });
    const h = hearing();
    let atOnce = 0;
    open.push(
      bus.follow([anyEvent], { fromSeq: 1 }, async (_, v) => {
        expect(++atOnce).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce--;
        h.hear((v as MusterEvent<'audit'>).data.subject);
      }),
    );
    await h.until(100);
    expect(h.heard).toEqual(Array.from({ length: 100 }, (_, i) => String(i)));
  });
});

describe('a filter', () => {
  it('matches as the server does', () => {
    expect(matches('a.*.c', 'a.b.c')).toBe(true);
    expect(matches('a.*', 'a.b.c')).toBe(false);
    expect(matches('a.>', 'a.b.c')).toBe(true);
    expect(matches('a.>', 'a')).toBe(false);
    expect(matches('a.b', 'a')).toBe(false);
  });

  it('covers several by one', () => {
    expect(coveringFilter(['a.b.*'])).toBe('a.b.*');
    expect(coveringFilter(['a.b.*', 'a.c.>'])).toBe('a.>');
    expect(coveringFilter(['a.b', 'a.b.c'])).toBe('a.>');
    expect(coveringFilter(['a.>', 'b'])).toBe('>');
    expect(coveringFilter(['m.v.*', 'm.e.*.*'])).toBe('m.>');
  });
});

import { expect } from 'vitest';
import type { StreamConfig } from '@nats-io/jetstream';
import { MusterError } from '#contracts';
import type { MessageLog, PulledMessage, ReadMessage, ReadSession, ReadStart } from '#bus/ports/message-log.js';
import type { WireStatus } from '#bus/ports/wire.js';
import type { ContractClient, ContractWorld } from './contract-world.js';

const ns = (ms: number): number => ms * 1_000_000;
const decoder = new TextDecoder();

export interface ContractCase {
  group: string;
  title: string;
  /** It restarts the server: nothing may run beside it. */
  alone: boolean;
  run(): Promise<void>;
}

/** All cases, to be run in one world, of which at most one is run: what they share is of that one alone. */
export interface ContractCases {
  cases: ContractCase[];
  /** @param name of its streams and clients, which no other in this world has */
  prepare(world: ContractWorld, name: string): Promise<void>;
  end(): Promise<void>;
}

/**
 * What the product rests on, held against real servers and against the played one: it must not lie. Where the real ones
 * differ from each other, the case says so.
 */
export function natsCases(): ContractCases {
  let world: ContractWorld;
  let a: ContractClient;
  let b: ContractClient;
  let log: MessageLog;
  /** Of this case alone. */
  let box: string;
  let ids = 0;

  const cases: ContractCase[] = [];
  let group = '';
  let before: (() => Promise<unknown>)[] = [];
  const describe = (name: string, body: () => void): void => {
    group = name;
    before = [];
    body();
  };
  const beforeEach = (prepare: () => Promise<unknown>): void => void before.push(prepare);
  const add = (alone: boolean) => (title: string, body: () => Promise<void>) => {
    const first = before;
    const run = async (): Promise<void> => {
      for (const prepare of first) await prepare();
      await body();
    };
    cases.push({ group, title, alone, run });
  };
  const it = add(false);
  const itAlone = add(true);

  /** What comes of a known id that expects what no longer holds. Servers between these two may do either. */
  const again = (seq: number) => {
    if (world.version.startsWith('2.9.')) return [{ seq, duplicate: true }];
    const refused = { conflict: true };
    return world.version === '2.15.1' ? [refused] : [{ seq, duplicate: true }, refused];
  };
  const run = <T>(work: Promise<T>): Promise<T> => world.run(work);
  const bucket = (o: Partial<StreamConfig> = {}): Promise<StreamConfig> =>
    run(
      log.createStream({
        name: box,
        subjects: [`${box}.>`],
        max_msgs_per_subject: 1,
        allow_direct: false,
        deny_delete: true,
        discard: 'new' as StreamConfig['discard'],
        duplicate_window: ns(120_000),
        ...o,
      }),
    );
  const queue = (o: Partial<StreamConfig> = {}): Promise<StreamConfig> =>
    bucket({ max_msgs_per_subject: -1, discard: 'old' as StreamConfig['discard'], deny_delete: false, ...o });
  const put = (
    key: string,
    text: string | Uint8Array,
    o: { expect?: number; id?: string; headers?: [string, string][]; timeoutMs?: number } = {},
    by = a,
  ) => run(by.messages.append(`${box}.${key}`, text, { id: `id${++ids}`, timeoutMs: 5000, ...o }));
  const seqOf = async (...args: Parameters<typeof put>): Promise<number> => {
    const stored = await put(...args);
    if (!('seq' in stored)) throw new Error('a conflict');
    return stored.seq;
  };

  /** A reading that writes down what it is told. */
  async function reading(
    start: ReadStart,
    o: { filter?: string; hold?: (m: ReadMessage) => void | Promise<void> } = {},
  ) {
    const told: string[] = [];
    const seqs: number[] = [];
    const session: ReadSession = await run(
      log.read(box, {
        filter: o.filter ?? `${box}.>`,
        start,
        onMessage: (m) => {
          told.push(`${m.subject.slice(box.length + 1)}=${decoder.decode(m.data)}`);
          seqs.push(m.seq);
          return o.hold?.(m);
        },
        onLive: () => told.push('live'),
        onDoubt: (why) => told.push(`doubt: ${why}`),
      }),
    );
    return {
      session,
      told,
      seqs,
      until: (what: string) => world.until(() => told.includes(what)),
      doubted: () => world.until(() => told.some((t) => t.startsWith('doubt: '))),
    };
  }

  describe('a bucket', () => {
    it('takes a write only where its revision is the current one', async () => {
      await bucket();
      const first = await seqOf('k', 'one', { expect: 0 });
      expect(first).toBe(1);
      expect(await put('k', 'never', { expect: 0 })).toEqual({ conflict: true });
      expect(await put('k', 'never', { expect: 7 })).toEqual({ conflict: true });
      expect(await put('other', 'x', { expect: 0 })).toEqual({ seq: 2, duplicate: false });
      const second = await seqOf('k', 'two', { expect: first });
      expect(second).toBe(3);
      expect(await put('k', 'never', { expect: first })).toEqual({ conflict: true });
      expect(await run(log.last(box, `${box}.k`))).toMatchObject({ subject: `${box}.k`, seq: 3, text: 'two' });
      expect(await run(log.info(box))).toMatchObject({ messages: 2, firstSeq: 2, lastSeq: 3 });
    });

    it('lets only one of two have it who write at once', async () => {
      await bucket();
      const both = [a, b].map((by) =>
        by.messages.append(`${box}.k`, 'mine', { id: `id${++ids}`, expect: 0, timeoutMs: 5000 }),
      );
      const outcomes = await run(Promise.all(both));
      expect(outcomes.filter((o) => 'seq' in o)).toHaveLength(1);
      expect(outcomes.filter((o) => 'conflict' in o)).toHaveLength(1);
    });

    it('keeps the headers of a marker, which is a revision like any other', async () => {
      await bucket();
      const first = await seqOf('k', 'one', { expect: 0 });
      const marker = await seqOf('k', '', { id: 'the-id', expect: first, headers: [['KV-Operation', 'DEL']] });
      const last = await run(log.last(box, `${box}.k`));
      expect(last).toMatchObject({ seq: marker, text: '' });
      expect(last?.headers).toMatchObject({ 'KV-Operation': 'DEL', 'Nats-Msg-Id': 'the-id' });
      expect(await put('k', 'again', { expect: 0 })).toEqual({ conflict: true });
      expect(await put('k', 'again', { expect: marker })).toEqual({ seq: 3, duplicate: false });
    });

    it('holds text and bytes, and when they came', async () => {
      await bucket();
      await put('text', 'grün');
      await put('bytes', new TextEncoder().encode('blüht'));
      const last = await run(log.last(box, `${box}.bytes`));
      expect(last?.text).toBe('blüht');
      expect((await run(log.last(box, `${box}.text`)))?.text).toBe('grün');
      expect(last?.time.getFullYear()).toBeGreaterThan(2025);
    });

    it('begins again at 1 where it was made anew', async () => {
      await bucket();
      for (const text of ['1', '2', '3']) await put('k', text);
      const before = await run(log.info(box));
      const made = before.created.getTime();
      await world.advance(5);
      await world.recreate(box);
      const anew = await run(log.info(box));
      expect(anew).toMatchObject({ messages: 0, lastSeq: 0 });
      expect(anew.created.getTime()).toBeGreaterThan(made);
      expect(await run(log.last(box, `${box}.k`))).toBeUndefined();
      expect(await put('k', 'x', { expect: 3 })).toEqual({ conflict: true });
      expect(await put('k', 'x', { expect: 0 })).toEqual({ seq: 1, duplicate: false });
    });
  });

  describe('a stream', () => {
    it('is asked for its messages from a sequence on', async () => {
      await queue();
      for (const [key, text] of [
        ['x', '1'],
        ['y', '2'],
        ['x', '3'],
        ['z.1', '4'],
      ] as const)
        await put(key, text);
      expect(await run(log.next(box, `${box}.x`, 1))).toMatchObject({ seq: 1, text: '1' });
      expect(await run(log.next(box, `${box}.x`, 2))).toMatchObject({ seq: 3, text: '3' });
      expect(await run(log.next(box, `${box}.x`, 4))).toBeUndefined();
      expect(await run(log.next(box, `${box}.*`, 2))).toMatchObject({ seq: 2 });
      expect(await run(log.next(box, `${box}.z.>`, 0))).toMatchObject({ seq: 4 });
      expect(await run(log.last(box, `${box}.x`))).toMatchObject({ seq: 3 });
      expect(await run(log.last(box, `${box}.none`))).toBeUndefined();
      expect(await run(log.hasFrom(box, 4))).toBe(true);
      expect(await run(log.hasFrom(box, 5))).toBe(false);
      expect((await run(log.info(box, { subjects: `${box}.x` }))).subjects).toEqual({ [`${box}.x`]: 2 });
    });

    it('says what is in it, also where that is nothing', async () => {
      await queue();
      const empty = await run(log.info(box));
      expect(empty).toMatchObject({ messages: 0, bytes: 0, firstSeq: 0, lastSeq: 0, config: { name: box } });
      expect(empty.firstTime.getUTCFullYear()).toBe(1);
      expect(await run(log.hasFrom(box, 1))).toBe(false);
      await put('x', '1');
      await run(log.purge(box, { subject: `${box}.>`, keep: 0 }));
      expect(await run(log.info(box))).toMatchObject({ messages: 0, firstSeq: 2, lastSeq: 1 });
      expect(await seqOf('x', '2')).toBe(2);
      expect(await run(log.info(box))).toMatchObject({ messages: 1, firstSeq: 2, lastSeq: 2 });
    });

    it('drops all of a subject but for the newest', async () => {
      await queue();
      for (const text of ['1', '2', '3']) await put('x', text);
      await put('y', '4');
      await run(log.purge(box, { subject: `${box}.x`, keep: 1 }));
      expect(await run(log.info(box))).toMatchObject({ messages: 2, firstSeq: 3, lastSeq: 4 });
      expect(await run(log.last(box, `${box}.x`))).toMatchObject({ seq: 3 });
    });

    it('may be created twice in one shape, and in no other', async () => {
      const config = await queue();
      expect(config).toMatchObject({
        name: box,
        subjects: [`${box}.>`],
        max_msgs_per_subject: -1,
        num_replicas: 1,
        storage: 'file',
      });
      expect(await queue()).toMatchObject({ name: box });
      await expect(bucket()).rejects.toMatchObject({ name: 'ApiFailure', errCode: 10058, status: 400 });
    });

    it('is refused by name where there is none', async () => {
      const missing = { name: 'ApiFailure', errCode: 10059, status: 404, passing: false };
      await expect(run(log.info('none'))).rejects.toMatchObject(missing);
      await expect(run(log.last('none', 'x'))).rejects.toMatchObject(missing);
      await expect(run(log.hasFrom('none', 1))).rejects.toMatchObject(missing);
      await expect(run(log.purge('none', { subject: 'x', keep: 0 }))).rejects.toMatchObject(missing);
      await expect(put('x', 'nobody takes it')).rejects.toMatchObject({ code: 'NO_RESPONDER' });
    });
  });

  describe('an id', () => {
    it('makes a second one the first, whatever its subject', async () => {
      await bucket();
      await put('k', 'one', { id: 'same', expect: 0 });
      await put('k', 'two', { expect: 1 });
      expect(await put('other', 'never', { id: 'same' })).toEqual({ seq: 1, duplicate: true });
      expect(await put('k', 'never', { id: 'same', expect: 2 })).toEqual({ seq: 1, duplicate: true });
      expect(await run(log.info(box))).toMatchObject({ messages: 1, lastSeq: 2 });
    });

    it('never stores a second one that expects what no longer holds, which 2.15 calls a conflict and 2.9 a duplicate', async () => {
      await bucket();
      await put('k', 'one', { id: 'same', expect: 0 });
      expect(again(1)).toContainEqual(await put('k', 'one', { id: 'same', expect: 0 }));
      await put('k', 'two', { expect: 1 });
      expect(again(1)).toContainEqual(await put('k', 'one', { id: 'same', expect: 0 }));
      expect(await run(log.info(box))).toMatchObject({ messages: 1, lastSeq: 2 });
    });

    it('of what was refused may come again', async () => {
      await bucket();
      expect(await put('k', 'x', { id: 'again', expect: 5 })).toEqual({ conflict: true });
      expect(await put('k', 'x', { id: 'again', expect: 0 })).toEqual({ seq: 1, duplicate: false });
    });

    it('is forgotten after the window: then only the expectation holds a copy back', async () => {
      await bucket({ duplicate_window: ns(100) });
      await put('k', 'one', { id: 'same', expect: 0 });
      await world.advance(1000);
      expect(await put('k', 'copy', { id: 'same', expect: 0 })).toEqual({ conflict: true });
      expect(await put('k', 'copy', { id: 'same' })).toEqual({ seq: 2, duplicate: false });
    });

    it('finds a write again whose answer was lost', async () => {
      await bucket();
      a.loseAnswer();
      await expect(put('k', 'one', { id: 'lost', expect: 0, timeoutMs: 300 })).rejects.toMatchObject({
        code: 'TIMEOUT',
      });
      await a.heal();
      expect(again(1)).toContainEqual(await put('k', 'one', { id: 'lost', expect: 0 }));
      expect((await run(log.last(box, `${box}.k`)))?.headers['Nats-Msg-Id']).toBe('lost');
    });

    itAlone('outlives a restart with its message', async () => {
      await bucket();
      await put('k', 'one', { id: 'stays' });
      await world.restart();
      await world.until(() => a.wire.connected);
      expect(await put('k', 'two', { id: 'stays' })).toEqual({ seq: 1, duplicate: true });
    });

    itAlone('does not outlive a restart where its message was replaced', async () => {
      await bucket();
      await put('k', 'one', { id: 'replaced' });
      await put('k', 'two');
      await world.restart();
      await world.until(() => a.wire.connected);
      expect(await put('k', 'three', { id: 'replaced' })).toEqual({ seq: 3, duplicate: false });
    });
  });

  describe('a crash that loses the newest', () => {
    itAlone('gives their sequences and ids again, and brings back what they replaced', async () => {
      await bucket();
      await put('k', 'old');
      await world.remember();
      await world.until(() => a.wire.connected);
      const lost = await seqOf('k', 'lost', { id: 'was-lost' });
      await put('other', 'lost too');
      await world.rollBack([box]);
      await world.until(() => a.wire.connected);
      expect(await run(log.last(box, `${box}.k`))).toMatchObject({ seq: 1, text: 'old' });
      expect(await run(log.info(box))).toMatchObject({ messages: 1, lastSeq: 1 });
      expect(await put('k', 'new', { expect: lost })).toEqual({ conflict: true });
      expect(await put('k', 'new', { id: 'was-lost', expect: 1 })).toEqual({ seq: 2, duplicate: false });
    });

    itAlone('may take of one stream what another still speaks of', async () => {
      await bucket();
      const torn = box;
      box = `${box}whole`;
      await bucket();
      await world.remember();
      await world.until(() => a.wire.connected);
      await run(log.append(`${torn}.k`, 'x', { id: `id${++ids}`, timeoutMs: 5000 }));
      await put('k', 'x');
      await world.rollBack([torn]);
      await world.until(() => a.wire.connected);
      expect(await run(log.last(torn, `${torn}.k`))).toBeUndefined();
      expect(await run(log.last(box, `${box}.k`))).toMatchObject({ seq: 1, text: 'x' });
    });
  });

  describe('a reading', () => {
    it('of an empty bucket is live at once, and then tells each change', async () => {
      await bucket();
      const r = await reading({ from: 'last-per-subject' });
      await r.until('live');
      await put('k', '1');
      await put('k', '', { headers: [['KV-Operation', 'DEL']] });
      await r.until('k=');
      expect(r.told).toEqual(['live', 'k=1', 'k=']);
      r.session.close();
    });

    it('of a full one tells the last of each subject, in the order of their sequences, and then that it is live', async () => {
      await bucket({ max_msgs_per_subject: 3 });
      for (const [key, text] of [
        ['a', '1'],
        ['b', '1'],
        ['a', '2'],
        ['c.d', '1'],
        ['b', '2'],
      ] as const)
        await put(key, text);
      const r = await reading({ from: 'last-per-subject' });
      await r.until('live');
      await put('a', '3');
      await r.until('a=3');
      expect(r.told).toEqual(['a=2', 'c.d=1', 'b=2', 'live', 'a=3']);
      expect(r.seqs).toEqual([3, 4, 5, 6]);
      r.session.close();
    });

    it('begins where it was asked to', async () => {
      await queue();
      await put('x', '1');
      await world.advance(20);
      await put('y', '2');
      await put('x', '3');
      const time = (await run(log.next(box, `${box}.y`, 1)))?.time ?? new Date(0);
      const told = async (start: ReadStart, filter?: string): Promise<string[]> => {
        const r = await reading(start, filter === undefined ? {} : { filter });
        await r.until('live');
        r.session.close();
        return r.told;
      };
      expect(await told({ from: 'all' })).toEqual(['x=1', 'y=2', 'x=3', 'live']);
      expect(await told({ from: 'seq', seq: 2 })).toEqual(['y=2', 'x=3', 'live']);
      expect(await told({ from: 'seq', seq: 9 })).toEqual(['live']);
      expect(await told({ from: 'new' })).toEqual(['live']);
      expect(await told({ from: 'time', time })).toEqual(['y=2', 'x=3', 'live']);
      expect(await told({ from: 'all' }, `${box}.x`)).toEqual(['x=1', 'x=3', 'live']);
      expect(await told({ from: 'last-per-subject' }, `${box}.*`)).toEqual(['y=2', 'x=3', 'live']);
    });

    it('tells all in order, without holes, also what is written meanwhile by two', async () => {
      await queue();
      const r = await reading({ from: 'all' });
      const writes = Array.from({ length: 300 }, (_, n) =>
        (n % 2 === 0 ? a : b).messages.append(`${box}.n`, String(n), { id: `id${++ids}`, timeoutMs: 5000 }),
      );
      await run(Promise.all(writes));
      await world.until(() => r.seqs.length === 300);
      expect(r.seqs).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
      r.session.close();
    });

    it('waits for who is not done with a message', async () => {
      await queue();
      for (const text of ['1', '2']) await put('x', text);
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (go = resolve));
      const r = await reading({ from: 'all' }, { hold: (m) => (m.seq === 1 ? gate : undefined) });
      await r.until('x=1');
      await world.advance(50);
      expect(r.told).toEqual(['x=1']);
      go();
      await r.until('live');
      expect(r.told).toEqual(['x=1', 'x=2', 'live']);
      r.session.close();
    });

    it('tells nothing after it was closed', async () => {
      await queue();
      const r = await reading({ from: 'all' });
      await r.until('live');
      r.session.close();
      await put('x', '1');
      await world.advance(50);
      expect(r.told).toEqual(['live']);
    });

    it('of a stream that is not there is refused', async () => {
      await expect(reading({ from: 'all' })).rejects.toMatchObject({ name: 'ApiFailure', errCode: 10059 });
    });

    it('is in doubt when its stream was made anew', async () => {
      await bucket();
      const r = await reading({ from: 'last-per-subject' });
      await r.until('live');
      await world.recreate(box);
      await r.doubted();
      expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
    });

    itAlone('is in doubt when the server was restarted', async () => {
      await bucket();
      const r = await reading({ from: 'last-per-subject' });
      await r.until('live');
      await world.restart();
      await r.doubted();
      expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
    });

    it('either misses nothing over a short gap, or is in doubt', async () => {
      await queue();
      const r = await reading({ from: 'all' });
      await r.until('live');
      a.cut();
      await world.until(() => !a.wire.connected);
      await put('x', '1', {}, b);
      await put('x', '2', {}, b);
      await a.heal();
      await put('x', '3', {}, b);
      await world.until(() => r.told.length > 3 || r.told.some((t) => t.startsWith('doubt')));
      const known = r.told.filter((t) => t.startsWith('x='));
      expect(['x=1', 'x=2', 'x=3'].slice(0, known.length)).toEqual(known);
      r.session.close();
    });

    it('is in doubt when the gap was long', async () => {
      await queue();
      const r = await reading({ from: 'all' });
      await r.until('live');
      a.cut();
      await r.doubted();
      expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
      await a.heal();
    });
  });

  describe('a durable consumer', () => {
    const durable = 'worker';
    const consumer = (o: object = {}): Promise<void> =>
      run(
        log.createConsumer(box, {
          durable_name: durable,
          ack_policy: 'explicit' as never,
          deliver_policy: 'all' as never,
          replay_policy: 'instant' as never,
          ack_wait: ns(1500),
          max_deliver: -1,
          filter_subject: `${box}.>`,
          ...o,
        }),
      );
    /** Long enough for a busy machine to hand out what is there; what must not be there is waited for with `NOTHING`. */
    const pull = (waitMs = 10_000, by = a): Promise<PulledMessage | undefined> =>
      run(by.messages.pull(box, durable, { waitMs }));
    const NOTHING = 100;
    const brief = (m: PulledMessage | undefined) => m && `${m.text}/${m.deliveries}`;
    /** It has reached the server. */
    const said = (by = a): Promise<void> => run(by.wire.flush());

    beforeEach(async () => {
      await queue();
    });

    it('hands out each message once, in order, to whoever asks', async () => {
      await consumer();
      for (const text of ['1', '2', '3']) await put('x', text);
      const got: (string | undefined)[] = [];
      for (const by of [a, b, a, b]) {
        const m = await pull(got.length < 3 ? 10_000 : NOTHING, by);
        got.push(brief(m));
        m?.ack();
        await said(by);
      }
      expect(got).toEqual(['1/1', '2/1', '3/1', undefined]);
      // What is done would come again before what came later and is not.
      await put('x', '4');
      expect([brief(await pull()), brief(await pull())]).toEqual(['4/1', '4/2']);
    });

    it('hands out again what was not acknowledged in time, before what is new', async () => {
      await consumer();
      await put('x', '1');
      await put('x', '2');
      const m = await pull();
      expect(m).toMatchObject({ subject: `${box}.x`, seq: 1, text: '1', deliveries: 1 });
      expect(await pull(10_000, b).then(brief)).toBe('2/1');
      await put('x', '3');
      await world.advance(2000);
      expect([brief(await pull()), brief(await pull()), brief(await pull())]).toEqual(['1/2', '2/2', '3/1']);
      m?.ack();
      await said();
      expect(brief(await pull())).toBe('2/3');
    });

    it('hands out what was refused after its delay, and not before', async () => {
      await consumer({ ack_wait: ns(30_000) });
      await put('x', '1');
      const m = await pull();
      m?.nak(1500);
      await said();
      expect(await pull(NOTHING)).toBeUndefined();
      expect(brief(await pull(10_000))).toBe('1/2');
    });

    it('waits longer for who is still at work', async () => {
      await consumer();
      await put('x', '1');
      const m = await pull();
      for (let i = 0; i < 3; i++) {
        await world.advance(750);
        m?.working();
        await said();
      }
      expect(await pull(NOTHING)).toBeUndefined();
      expect(brief(await pull())).toBe('1/2');
    });

    it('never hands out what was ended', async () => {
      await consumer();
      await put('x', '1');
      (await pull())?.term();
      await said();
      // What is over would come again before what came later and is not.
      await put('x', '2');
      expect([brief(await pull()), brief(await pull())]).toEqual(['2/1', '2/2']);
    });

    it('keeps the order where only one may be out', async () => {
      await consumer({ max_ack_pending: 1, ack_wait: ns(30_000) });
      await put('x', '1');
      await put('x', '2');
      const first = await pull();
      expect(await pull(NOTHING, b)).toBeUndefined();
      first?.nak(200);
      await said();
      const again = await pull(10_000, b);
      expect(brief(again)).toBe('1/2');
      again?.ack();
      await said(b);
      expect(brief(await pull())).toBe('2/1');
    });

    it('gives a message to who waits for it already', async () => {
      await consumer();
      const waiting = log.pull(box, durable, { waitMs: 10_000 });
      await world.advance(50);
      await said();
      await put('x', '1', {}, b);
      expect(brief(await run(waiting))).toBe('1/1');
    });

    it('gives up at once where it is told to, and loses nothing by it', async () => {
      await consumer({ ack_wait: ns(30_000) });
      const stop = new AbortController();
      const waiting = log.pull(box, durable, { waitMs: 30_000, signal: stop.signal });
      await world.advance(50);
      stop.abort();
      expect(await run(waiting)).toBeUndefined();
      await said();
      await put('x', '1');
      expect(brief(await pull(10_000, b))).toBe('1/1');
      expect(await run(log.pull(box, durable, { waitMs: 10_000, signal: stop.signal }))).toBeUndefined();
    });

    it('begins with what is new where it was asked to', async () => {
      await put('x', '1');
      await consumer({ deliver_policy: 'new' });
      await put('x', '2');
      expect(brief(await pull())).toBe('2/1');
    });

    itAlone('remembers over a restart what is done, and what is not', async () => {
      await consumer({ ack_wait: ns(1500) });
      for (const text of ['1', '2', '3']) await put('x', text);
      (await pull())?.ack();
      await pull();
      await said();
      // It writes such things down a moment later.
      await world.advance(500);
      await world.restart();
      await world.until(() => a.wire.connected);
      const seen: string[] = [];
      await consumer({ ack_wait: ns(1500) });
      for (let tries = 0; tries < 20 && seen.length < 2; tries++) {
        const m = await pull(1000);
        if (m) seen.push(m.text);
        m?.ack();
      }
      expect(seen.sort()).toEqual(['2', '3']);
    });

    it('fails where the connection breaks, and hands out again what was on its way', async () => {
      await consumer();
      await put('x', '1', {}, b);
      const m = await pull();
      const waiting = log.pull(box, durable, { waitMs: 10_000 });
      waiting.catch(() => undefined);
      await world.advance(20);
      await said();
      a.cut();
      await expect(run(waiting)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      await expect(pull()).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      await a.heal();
      const counted = brief(await pull());
      // It may have gone out to who had gone, which counts. 2.9 forgets what it had counted where it finds that out itself.
      expect(counted).toMatch(world.version.startsWith('2.9.') ? /^1\/[123]$/ : /^1\/[23]$/);
      expect(m?.deliveries).toBe(1);
    });

    it('is refused by name where there is none to remove, and fails who waits for it when it is removed', async () => {
      await expect(run(log.removeConsumer(box, 'none'))).rejects.toMatchObject({ name: 'ApiFailure', errCode: 10014 });
      await consumer();
      const waiting = log.pull(box, durable, { waitMs: 10_000 });
      waiting.catch(() => undefined);
      await world.advance(50);
      await said();
      await run(b.messages.removeConsumer(box, durable));
      await expect(run(waiting)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    });

    it('that is not there hands out nothing: 2.9 says nothing at all, 2.15 that nobody is there', async () => {
      const failure = await run(log.pull(box, 'none', { waitMs: 200 }).catch((e: unknown) => e));
      const codes = world.version.startsWith('2.9.') ? ['TIMEOUT'] : ['BUS_UNAVAILABLE'];
      expect(codes).toContain(failure instanceof MusterError ? failure.code : failure);
    });
  });

  describe('core NATS', () => {
    it('brings an answer to who asked', async () => {
      b.wire.subscribe(`${box}.*`, {
        onMessage: (m) => m.respond(`${m.subject}: ${m.text}!`),
        onRefused: () => undefined,
      });
      await run(b.wire.flush());
      expect(await run(a.wire.request(`${box}.q`, 'hello', { timeoutMs: 1000 }))).toBe(`${box}.q: hello!`);
    });

    it('says at once that nobody listens, and later that nobody answered', async () => {
      await expect(run(a.wire.request(`${box}.q`, '', { timeoutMs: 5000 }))).rejects.toMatchObject({
        code: 'NO_RESPONDER',
      });
      b.wire.subscribe(`${box}.q`, { onMessage: () => undefined, onRefused: () => undefined });
      await run(b.wire.flush());
      await expect(run(a.wire.request(`${box}.q`, '', { timeoutMs: 200 }))).rejects.toMatchObject({ code: 'TIMEOUT' });
    });

    it('gives each message to one of a queue, and to all others who listen', async () => {
      const heard = { a: 0, b: 0, alone: 0 };
      const listen = (client: ContractClient, who: keyof typeof heard, queueName?: string) =>
        client.wire.subscribe(`${box}.>`, {
          ...(queueName !== undefined && { queue: queueName }),
          onMessage: () => heard[who]++,
          onRefused: () => undefined,
        });
      listen(a, 'a', 'q');
      listen(b, 'b', 'q');
      listen(b, 'alone');
      for (const client of [a, b]) await run(client.wire.flush());
      for (let n = 0; n < 60; n++) a.wire.publish(`${box}.x`, String(n));
      await world.until(() => heard.alone === 60 && heard.a + heard.b >= 60);
      expect(heard.a + heard.b).toBe(60);
      expect(Math.min(heard.a, heard.b)).toBeGreaterThan(0);
    });

    it('keeps the order of one sender, and tells nothing after the end of a subscription', async () => {
      const heard: string[] = [];
      const sub = b.wire.subscribe(`${box}.x`, { onMessage: (m) => heard.push(m.text), onRefused: () => undefined });
      await run(b.wire.flush());
      for (const text of ['1', '2', '3']) a.wire.publish(`${box}.x`, text);
      await run(a.wire.flush());
      await run(sub.drain());
      expect(heard).toEqual(['1', '2', '3']);
      a.wire.publish(`${box}.x`, '4');
      await run(a.wire.flush());
      await run(b.wire.flush());
      expect(heard).toEqual(['1', '2', '3']);
    });

    it('fails what is on its way when the connection breaks, and says when it is gone and back', async () => {
      const told: WireStatus[] = [];
      a.wire.onStatus((status) => told.push(status));
      const heard: string[] = [];
      a.wire.subscribe(`${box}.x`, { onMessage: (m) => heard.push(m.text), onRefused: () => undefined });
      b.wire.subscribe(`${box}.q`, { onMessage: () => undefined, onRefused: () => undefined });
      for (const client of [a, b]) await run(client.wire.flush());
      const asked = a.wire.request(`${box}.q`, '', { timeoutMs: 8000 });
      asked.catch(() => undefined);
      await world.advance(20);
      a.cut();
      await expect(run(asked)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      expect(a.wire.connected).toBe(false);
      await expect(run(a.wire.request(`${box}.q`, '', { timeoutMs: 8000 }))).rejects.toMatchObject({
        code: 'BUS_UNAVAILABLE',
      });
      b.wire.publish(`${box}.x`, 'unheard');
      a.wire.publish(`${box}.x`, 'dropped');
      await run(b.wire.flush());
      await a.heal();
      await run(a.wire.flush());
      b.wire.publish(`${box}.x`, 'heard');
      await world.until(() => heard.length > 0);
      expect(heard).toEqual(['heard']);
      expect(told).toEqual(['disconnected', 'connected']);
    });

    it('fails a write whose connection breaks, which may be stored all the same', async () => {
      await bucket();
      a.loseAnswer();
      const writing = log.append(`${box}.k`, 'one', { id: 'broken', expect: 0, timeoutMs: 8000 });
      writing.catch(() => undefined);
      await world.advance(50);
      while ((await run(b.messages.last(box, `${box}.k`))) === undefined) await world.advance(50);
      a.cut();
      await expect(run(writing)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      await a.heal();
      expect(again(1)).toContainEqual(await put('k', 'one', { id: 'broken', expect: 0 }));
    });

    it('is over for who closed it', async () => {
      const told: WireStatus[] = [];
      a.wire.onStatus((status) => told.push(status));
      await run(a.wire.close());
      expect(a.wire.closed).toBe(true);
      await expect(run(a.wire.request('x', '', { timeoutMs: 100 }))).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      await expect(run(log.info(box))).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
      a.wire.publish('x', 'dropped');
      expect(told).toEqual(['disconnected']);
    });
  });

  return {
    cases,
    prepare: async (into, name) => {
      world = into;
      box = name;
      a = await world.client(`${name}-a`);
      b = await world.client(`${name}-b`);
      log = a.messages;
    },
    end: async () => {
      for (const client of [a, b]) await world.run(client.wire.close());
    },
  };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FreshReads } from './fresh-reads.js';
import type { Clock, MusterError } from '#contracts';
import { connectBus, systemClock, type Bus } from '../index.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

interface Thing {
  n: number;
}

describe('reads out of a view', () => {
  /** A bucket whose questions are answered by hand, and a view that shows as much as it is told. */
  function byHand(clock: Clock = systemClock) {
    const questions: ((end: number) => void)[] = [];
    const asked: number[] = [];
    let shown = Infinity;
    const reads = new FreshReads<Thing>(
      {
        clock,
        get: (key) => Promise.resolve({ key, value: { n: 99 }, revision: 99 }),
        lastRevision: () => new Promise((resolve) => questions.push(resolve)),
      },
      {
        get: (key) => ({ key, value: { n: 1 }, revision: 1 }),
        revision: 1,
        unreadable: new Map([['spoiled', { bucket: 'nodes', key: 'spoiled', revision: 1, why: 'not JSON' }]]),
        shows: (revision) => {
          asked.push(revision);
          return Promise.resolve(revision <= shown);
        },
      },
    );
    /** Resolves once there was the n-th question. */
    const asks = (n: number): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => (questions.length >= n ? resolve() : void setImmediate(look));
        look();
      });
    return { reads, questions, asked, asks, behind: (revision: number) => (shown = revision) };
  }

  it('are not answered by a question that was asked before they began, and share the next one', async () => {
    const h = byHand();
    const first = h.reads.get('a');
    const later = [h.reads.get('a'), h.reads.get('b'), h.reads.get('c')];
    expect(h.questions).toHaveLength(1);
    h.questions[0]?.(5);
    await first;
    await h.asks(2);
    expect(h.asked).toEqual([5]);
    expect(h.questions).toHaveLength(2);
    h.questions[1]?.(8);
    await Promise.all(later);
    expect(h.asked).toEqual([5, 8, 8, 8]);
    void h.reads.get('a');
    expect(h.questions).toHaveLength(3);
  });

  it('that are many do not wait for the gap before the next question', async () => {
    // A gap that nothing but the readers ends.
    const stopped = { ...systemClock, monotonicMs: () => 0, sleep: (_ms, o) => systemClock.sleep(60_000, o) } as Clock;
    const h = byHand(stopped);
    const first = h.reads.get('a');
    const few = Array.from({ length: 7 }, () => h.reads.get('b'));
    h.questions[0]?.(5);
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(h.questions).toHaveLength(1);
    const last = h.reads.get('c');
    await h.asks(2);
    h.questions[1]?.(8);
    await Promise.all([...few, last]);
    expect(h.asked).toEqual([5, 8, 8, 8, 8, 8, 8, 8, 8]);
    // The next gap is a whole one again.
    const [third, fourth] = [h.reads.get('d'), h.reads.get('e')];
    h.questions[2]?.(9);
    await third;
    await new Promise((resolve) => setImmediate(resolve));
    expect(h.questions).toHaveLength(3);
    const rest = Array.from({ length: 7 }, () => h.reads.get('f'));
    await h.asks(4);
    h.questions[3]?.(9);
    await Promise.all([fourth, ...rest]);
  });

  it('of several keys share one question, and each has its own outcome', async () => {
    const h = byHand();
    const all = h.reads.each(['a', 'spoiled', 'b']);
    const later = h.reads.each(['c', 'd']);
    expect(h.questions).toHaveLength(1);
    h.questions[0]?.(5);
    expect((await all).map((r) => (r.status === 'fulfilled' ? r.value?.key : (r.reason as MusterError).code))).toEqual([
      'a',
      'RECORD_UNREADABLE',
      'b',
    ]);
    expect(await h.reads.each([])).toEqual([]);
    await h.asks(2);
    h.questions[1]?.(8);
    await later;
    expect(h.asked).toEqual([5, 8]);
  });

  it('go to the bucket where the view is too far behind', async () => {
    const h = byHand();
    h.behind(4);
    const read = h.reads.get('a');
    h.questions[0]?.(5);
    expect((await read)?.value.n).toBe(99);
    const all = h.reads.each(['a', 'b']);
    h.questions[1]?.(6);
    expect(await all).toMatchObject([{ value: { key: 'a', revision: 99 } }, { value: { key: 'b', revision: 99 } }]);
  });
});

describe('with a server', () => {
  let nats: TestNats;
  let writer: Bus;
  let reader: Bus;

  beforeAll(async () => {
    nats = await startTestNats();
    writer = await connectBus({ codec: anyJson, name: 'writer', servers: [nats.url] });
    reader = await connectBus({ codec: anyJson, name: 'reader', servers: [nats.url] });
    await writer.createBuckets();
  });

  afterAll(async () => {
    await reader?.close();
    await writer?.close();
    await nats?.stop();
  });

  it('who was told of a write finds it, through the view of any process', async () => {
    const [theirs, ours] = [writer.bucket<Thing>('nodes'), reader.bucket<Thing>('nodes')];
    // The last message is then a deletion of what the view has never known.
    await theirs.delete('gone', await theirs.create('gone', { n: 0 }));
    const view = await ours.view();
    expect(await ours.lastRevision()).toBe(2);
    expect(await ours.lastRevision(1)).toBe(2);
    expect(await ours.lastRevision(2)).toBe(2);
    expect(view.revision).toBe(2);
    let fromBucket = 0;
    const reads = new FreshReads<Thing>(
      {
        clock: systemClock,
        lastRevision: (known) => ours.lastRevision(known),
        get: (key) => (fromBucket++, ours.get(key)),
      },
      view,
    );
    let revision = await theirs.create('a', { n: 0 });
    for (let n = 1; n <= 300; n++) {
      revision = await theirs.update('a', { n }, revision);
      const found = await Promise.all([reads.get('a'), reads.get('a'), reads.get('b')]);
      expect(found.map((e) => e?.value.n)).toEqual([n, n, undefined]);
    }
    await theirs.delete('a');
    expect(await reads.get('a')).toBeUndefined();
    expect(fromBucket).toBe(0);
    await view.close();
  });
});

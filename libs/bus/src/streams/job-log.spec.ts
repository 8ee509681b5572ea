import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { runs } from '#contracts/testing/chance.js';
import { connectBus, type Bus, type LogChunk, type ReadLogOptions } from '../index.js';
import { chunks, LOG_CHUNK_BYTES } from './job-log.js';
import { connectionOf } from '../testing/connection-of.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let bus: Bus;

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'spec', servers: [nats.url] });
  await bus.createBuckets();
});

afterAll(async () => {
  await bus?.close();
  await nats?.stop();
});

async function read(job: string, o: ReadLogOptions = {}): Promise<LogChunk[]> {
  const out: LogChunk[] = [];
  for await (const chunk of bus.readLog(job, o)) out.push(chunk);
  return out;
}
const text = (log: LogChunk[]): string => log.map((c) => c.text).join('');

describe("a job's log", () => {
  it('is read in the order in which it was written, its own lines only', async () => {
    await Promise.all([
      bus.appendLog('j1', 'a'),
      bus.appendLog('j1', 'b'),
      bus.appendLog('j1.x', 'no'),
      bus.endLog('j1'),
    ]);
    expect(text(await read('j1'))).toBe('ab');
    expect(text(await read('j1', { follow: true }))).toBe('ab');
  });

  it('is empty where there is none, without waiting', async () => {
    expect(await read('nothing')).toEqual([]);
  });

  it('is followed until its end', async () => {
    await bus.appendLog('j2', 'first\n');
    const followed = read('j2', { follow: true });
    await bus.appendLog('j2', 'second\n');
    await bus.endLog('j2');
    expect(text(await followed)).toBe('first\nsecond\n');
  });

  it('is followed over kill -9 of the server', async () => {
    const followed = read('j3', { follow: true });
    await bus.appendLog('j3', '1');
    await nats.restart();
    await bus.appendLog('j3', '2');
    await bus.endLog('j3');
    expect(text(await followed)).toBe('12');
  });

  it('goes on after the chunk that was read last, and stops when it is told', async () => {
    await bus.appendLog('j4', 'a');
    await bus.appendLog('j4', 'b');
    const [first] = await read('j4');
    expect(text(await read('j4', { from: first!.seq + 1 }))).toBe('b');
    const abort = new AbortController();
    const followed = read('j4', { follow: true, signal: abort.signal });
    abort.abort();
    await followed;
  });

  it('takes a large text in pieces', async () => {
    const large = 'ä€😀x'.repeat(100_000);
    await bus.appendLog('j5', large);
    const log = await read('j5');
    expect(log.length).toBeGreaterThan(3);
    expect(text(log)).toBe(large);
  });

  it('waits for a reader that is slow instead of piling up in its memory', async () => {
    const piece = 'x'.repeat(LOG_CHUNK_BYTES);
    for (let i = 0; i < 160; i++) await bus.appendLog('slow', piece);
    await bus.endLog('slow');
    const other = await connectBus({ name: 'slow-reader', servers: [nats.url] });
    try {
      const log = other.readLog('slow', { follow: true })[Symbol.asyncIterator]();
      let length = (await log.next()).value?.text.length ?? 0;
      // Whatever the server wanted to send before these answers, it has sent.
      for (let i = 0; i < 50; i++) await connectionOf(other).rtt();
      expect(connectionOf(other).stats().inBytes).toBeLessThan(80 * LOG_CHUNK_BYTES);
      for (let next = await log.next(); next.done !== true; next = await log.next()) length += next.value.text.length;
      expect(length).toBe(160 * LOG_CHUNK_BYTES);
    } finally {
      await other.close();
    }
  });

  it('is never cut through a character', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.string({ unit: 'grapheme', minLength: 1 }), (pad, piece) => {
        const whole = 'x'.repeat(LOG_CHUNK_BYTES - 3 + pad) + piece.repeat(3);
        const parts = chunks(whole);
        expect(parts.every((p) => p.length <= LOG_CHUNK_BYTES)).toBe(true);
        expect(parts.map((p) => Buffer.from(p).toString('utf8')).join('')).toBe(Buffer.from(whole).toString('utf8'));
      }),
      { numRuns: runs(30) },
    );
  });
});

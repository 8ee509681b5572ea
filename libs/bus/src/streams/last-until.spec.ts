import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Subjects } from '#contracts';
import { connectBus, type Bus } from '../index.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
let bus: Bus;
/** By the server's clock: when each was surely stored, and none after it. */
const stored: number[] = [];

const subject = Subjects.event('in-service', 'a-1');
const emit = (node: string): Promise<void> => bus.emit('in-service', node, { node });

/** The clock has moved on: what is stored from now on has a later time. */
const nextMillisecond = async (): Promise<number> => {
  const now = Date.now();
  while (Date.now() <= now + 1) await bus.flushed();
  return now + 1;
};

beforeAll(async () => {
  nats = await startTestNats();
  bus = await connectBus({ name: 'one', servers: [nats.url] });
  await bus.createBuckets();
  // Sequences 1, 4, 7, … are of a-1.
  for (let i = 0; i < 12; i++) {
    await emit('a-1');
    stored.push(await nextMillisecond());
    await emit('b-2');
    await emit('c-3');
  }
});

afterAll(async () => {
  await bus?.close();
  await nats?.stop();
});

describe('the last message of a subject at a moment', () => {
  it('is found among those of others, however many came later', async () => {
    for (const [i, at] of stored.entries()) expect((await bus.lastUntil(subject, new Date(at))).seq).toBe(1 + 3 * i);
    expect((await bus.lastUntil(subject, new Date(Date.now() + 60_000))).seq).toBe(34);
  });

  it('is none before the first, nor of a subject that nobody used', async () => {
    const { seq, keptSince } = await bus.lastUntil(subject, new Date(0));
    expect(seq).toBeUndefined();
    expect(keptSince?.getTime()).toBeLessThanOrEqual(stored[0] ?? 0);
    expect((await bus.lastUntil(Subjects.event('in-service', 'z-9'), new Date())).seq).toBeUndefined();
  });
});

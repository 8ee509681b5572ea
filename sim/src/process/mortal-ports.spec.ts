import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { VirtualTime } from '../time/virtual-time.js';
import { clientOf } from '../nats/played-client.js';
import { PlayedServer } from '../nats/played-server.js';
import { CrashPoints, type CrashPlan, type CrashPoint } from './crash-points.js';
import { Life } from './life.js';
import { mortalLog, mortalWire } from './mortal-ports.js';

const STREAM = 'box';

/** One process on the played server, another that lives on, and where the first may die. */
async function world(plan: CrashPlan = () => false) {
  const time = new VirtualTime();
  const server = new PlayedServer(time);
  const points: CrashPoint[] = [];
  const client = (name: string) => {
    const clock = new VirtualClock(time, { name });
    return { clock, ...clientOf(server, name, clock, new SeededRandom(1)) };
  };
  const other = client('other');
  await time.settle(other.messages.createStream({ name: STREAM, subjects: [`${STREAM}.>`] }));
  await time.settle(other.messages.createConsumer(STREAM, { durable_name: 'worker' }));
  const own = client('mortal');
  const life = new Life('mortal', own.clock, new CrashPoints(plan, (point) => points.push(point)));
  life.onEnd(() => own.connection.vanish());
  const told: string[] = [];
  /** What it hears of a call is told. */
  const hears = (what: string, call: Promise<unknown>): void =>
    void call.then(
      () => told.push(what),
      () => told.push(`${what} failed`),
    );
  return {
    time,
    life,
    points,
    told,
    hears,
    other,
    wire: mortalWire(life, own.wire),
    log: mortalLog(life, own.messages),
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** Everything that a process can wait for. */
function waitForAll({ life, hears, told, wire, log }: World): void {
  wire.onStatus((status) => told.push(status));
  const heard = wire.subscribe('x', { onMessage: () => told.push('message'), onRefused: () => told.push('refused') });
  const left = wire.subscribe('y', { onMessage: () => undefined, onRefused: () => undefined });
  hears('request', wire.request('nobody', '', { timeoutMs: 1_000 }));
  hears('flush', wire.flush());
  hears('drain', left.drain());
  hears('append', log.append(`${STREAM}.k`, 'v', { id: 'one', timeoutMs: 1_000 }));
  hears('last', log.last(STREAM, `${STREAM}.k`));
  hears('pull', log.pull(STREAM, 'worker', { waitMs: 1_000 }));
  hears('sleep', life.clock.sleep(10));
  hears('heard', heard.drain());
}

describe('a process that has died', () => {
  it('hears of nothing that it waited for, nor of the end of its connection', async () => {
    const sut = await world();
    waitForAll(sut);
    sut.life.end();
    sut.other.wire.publish('x', 'late');
    await sut.time.advance(600_000);
    expect(sut.told).toEqual([]);
  });

  it('hears of nothing that it still asks for in the turn in which it died', async () => {
    const sut = await world();
    sut.life.end();
    waitForAll(sut);
    sut.other.wire.publish('x', 'late');
    await sut.time.advance(600_000);
    expect(sut.told).toEqual([]);
    expect(sut.points).toEqual([]);
  });

  it('hears of all of it where it lives', async () => {
    const sut = await world();
    waitForAll(sut);
    await sut.time.advance(600_000);
    expect(sut.told).toEqual(
      expect.arrayContaining(['flush', 'drain', 'append', 'last', 'pull', 'sleep', 'heard', 'request failed']),
    );
  });
});

describe('a process may die', () => {
  it('before a subscription, and after it', async () => {
    for (const moment of ['before', 'after'] as const) {
      const sut = await world((p) => p.call === 'wire.subscribe x' && p.moment === moment);
      sut.wire.subscribe('x', { onMessage: () => sut.told.push('message'), onRefused: () => undefined });
      sut.other.wire.publish('x', 'm');
      await sut.time.advance(1_000);
      expect(sut.life.over).toBe(true);
      expect(sut.told).toEqual([]);
    }
  });

  it('when it ends a subscription or a reading', async () => {
    const sut = await world();
    const subscription = sut.wire.subscribe('x', { onMessage: () => undefined, onRefused: () => undefined });
    const reading = await sut.time.settle(
      sut.log.read(STREAM, {
        filter: `${STREAM}.>`,
        start: { from: 'all' },
        onMessage: () => undefined,
        onLive: () => undefined,
        onDoubt: () => undefined,
      }),
    );
    sut.points.length = 0;
    await sut.time.settle(subscription.drain());
    subscription.close();
    reading.close();
    expect(sut.points.map((p) => `${p.moment} ${p.call}`)).toEqual([
      'before wire.drain x',
      'after wire.drain x',
      'before wire.unsubscribe x',
      'after wire.unsubscribe x',
      `before log.close ${STREAM}`,
      `after log.close ${STREAM}`,
    ]);
  });
});

import { setTimeout as realTimeout } from 'node:timers';
import { describe, expect, it } from 'vitest';
import { RealHandles } from './real-handles.js';
import { SeededRandom } from './seeded-random.js';
import { VirtualClock } from './virtual-clock.js';
import { VirtualTime } from './virtual-time.js';

describe('virtual time', () => {
  it('goes by moment, and at one moment by the order of asking', async () => {
    const time = new VirtualTime();
    const done: string[] = [];
    for (const [ns, what] of [
      [5, 'c'],
      [1, 'a'],
      [5, 'd'],
      [3, 'b'],
      [5, 'e'],
    ] as const)
      time.schedule(ns, what, () => done.push(`${what}@${time.nowNs}`));
    await time.advance(1);
    expect(done).toEqual(['a@1', 'b@3', 'c@5', 'd@5', 'e@5']);
    expect(time.nowMs).toBe(1);
  });

  it('keeps the order of many that were queued at random', async () => {
    const time = new VirtualTime();
    const random = new SeededRandom(7);
    const seen: number[] = [];
    const asked = Array.from({ length: 3000 }, () => Math.floor(random.number() * 500));
    const timers = asked.map((ns) => time.schedule(ns, 'x', () => seen.push(ns)));
    timers.filter((_, i) => i % 3 === 0).forEach((timer) => timer.cancel());
    await time.advance(1);
    expect(seen).toEqual(asked.filter((_, i) => i % 3 !== 0).sort((a, b) => a - b));
  });

  it('does not pass while promises still settle each other', async () => {
    const time = new VirtualTime();
    const told: string[] = [];
    const deep = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) await Promise.resolve();
      await new Promise<void>((resolve) => process.nextTick(resolve));
      told.push(`deep at ${time.nowNs}`);
    };
    time.schedule(1, 'first', () => void deep());
    time.schedule(2, 'second', () => told.push(`second at ${time.nowNs}`));
    await time.advance(1);
    expect(told).toEqual(['deep at 1', 'second at 2']);
  });

  it('stops at what an event throws, and can go on', async () => {
    const time = new VirtualTime();
    let after = false;
    time.schedule(1, 'bad', () => {
      throw new Error('broken');
    });
    time.schedule(2, 'good', () => (after = true));
    await expect(time.advance(1)).rejects.toThrow('broken');
    expect(after).toBe(false);
    await time.advance(1);
    expect(after).toBe(true);
  });

  it('settles what waits in it, and says so where it does not', async () => {
    const time = new VirtualTime();
    const clock = new VirtualClock(time, { name: 'a' });
    expect(await time.settle(clock.sleep(1000).then(() => 'slept'))).toBe('slept');
    expect(time.nowMs).toBe(1000);
    await expect(time.settle(new Promise(() => undefined), 5)).rejects.toThrow('not settled within 5 virtual ms');
  });

  it('has the same hash for the same events, and another one otherwise', async () => {
    const run = async (ms: number): Promise<string> => {
      const time = new VirtualTime();
      const clock = new VirtualClock(time, { name: 'a' });
      clock.every(ms, () => time.trace('tick'));
      await time.advance(1000);
      return time.hash;
    };
    expect(await run(10)).toBe(await run(10));
    expect(await run(10)).not.toBe(await run(11));
  });
});

describe('a virtual clock', () => {
  const world = () => {
    const time = new VirtualTime();
    return { time, clock: new VirtualClock(time, { name: 'p', hostUptimeMs: 500, wallMs: 1_000_000 }) };
  };

  it('tells the time of its process, of its host and of the wall', async () => {
    const { time } = world();
    await time.advance(100);
    const clock = new VirtualClock(time, { name: 'p', hostUptimeMs: 500, wallMs: 1_000_000 });
    await time.advance(50);
    expect(clock.monotonicMs()).toBe(50);
    expect(clock.monotonicNs()).toBe(650_000_000n);
    expect(clock.wallMs()).toBe(1_000_150);
    clock.jumpWall(-10_000);
    expect(clock.wallMs()).toBe(990_150);
  });

  it('calls once, again and again, or not at all', async () => {
    const { time, clock } = world();
    const calls: string[] = [];
    clock.after(10, () => calls.push(`once ${time.nowMs}`));
    clock.after(10, () => calls.push('never')).cancel();
    const every = clock.every(4, () => {
      calls.push(`again ${time.nowMs}`);
      if (time.nowMs === 12) every.cancel();
    });
    await time.advance(100);
    expect(calls).toEqual(['again 4', 'again 8', 'once 10', 'again 12']);
  });

  it('ends a sleep early where its signal is aborted', async () => {
    const { time, clock } = world();
    const stop = new AbortController();
    clock.after(3, () => stop.abort());
    await time.settle(clock.sleep(100, { signal: stop.signal }));
    expect(time.nowMs).toBe(3);
    await time.settle(clock.sleep(100, { signal: stop.signal }));
    expect(time.nowMs).toBe(3);
  });

  it('does nothing while its process is stopped, and all that was due, in order, when it wakes', async () => {
    const { time, clock } = world();
    const calls: string[] = [];
    clock.after(20, () => calls.push(`late ${time.nowMs}`));
    clock.after(10, () => {
      calls.push(`early ${time.nowMs}`);
      void Promise.resolve().then(() => calls.push('what follows'));
    });
    clock.every(5, () => calls.push(`beat ${time.nowMs}`));
    time.schedule(40e6, 'message', () => clock.incoming(0, 'message', () => calls.push(`message ${time.nowMs}`)));
    const gone = clock.after(15, () => calls.push('cancelled'));
    time.schedule(16e6, 'x', () => gone.cancel());
    clock.pause();
    time.schedule(40e6, 'resume', () => clock.resume());
    await time.advance(39);
    expect(calls).toEqual([]);
    expect(clock.monotonicMs()).toBe(39);
    await time.advance(7);
    expect(calls).toEqual(['beat 40', 'early 40', 'what follows', 'late 40', 'message 40', 'beat 45']);
  });

  it('never calls anything again once its process has ended', async () => {
    const { time, clock } = world();
    const calls: string[] = [];
    clock.after(10, () => calls.push('before'));
    clock.after(5, () => clock.end());
    await time.advance(6);
    clock.soon(() => calls.push('after'));
    clock.resume();
    await time.advance(100);
    expect(calls).toEqual([]);
  });

  it('may go faster than another', async () => {
    const time = new VirtualTime();
    const fast = new VirtualClock(time, { name: 'fast', rate: 1.1 });
    await time.settle(fast.sleep(1100));
    expect(Math.round(time.nowMs)).toBe(1000);
    expect(Math.round(fast.monotonicMs())).toBe(1100);
  });

  it('lets a thousand seconds of ticks pass in a tenth of that at most', async () => {
    const { time, clock } = world();
    let ticks = 0;
    clock.every(10, () => ticks++);
    const begun = performance.now();
    await time.advance(1_000_000);
    expect(ticks).toBe(100_000);
    expect(performance.now() - begun).toBeLessThan(100_000);
  });
});

describe('seeded chance', () => {
  it('gives the same ids from the same seed, of version 4', () => {
    const ids = (seed: number): string[] => Array.from({ length: 50 }, () => new SeededRandom(seed).uuid());
    expect(ids(3)).toEqual(ids(3));
    expect(ids(3)).not.toEqual(ids(4));
    for (const id of ids(5)) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(new SeededRandom(1).hex(8)).toMatch(/^[\da-f]{16}$/);
    expect(new SeededRandom(1).bytes(9)).toHaveLength(9);
  });
});

describe('a history that leaves something real', () => {
  it('fails by its name, and says what it left', () => {
    const handles = new RealHandles();
    expect(() => handles.assertNone('lost ack')).not.toThrow();
    const timer = realTimeout(() => undefined, 60_000);
    expect(() => handles.assertNone('lost ack')).toThrow('lost ack left real handles: 1 × Timeout');
    clearTimeout(timer);
  });
});

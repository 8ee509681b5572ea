import { describe, expect, it } from 'vitest';
import { CrashPoints, nobodyCrashes } from '../process/crash-points.js';
import { Life } from '../process/life.js';
import { VirtualClock, type VirtualClockOptions } from '../time/virtual-clock.js';
import { NS_PER_MS, VirtualTime } from '../time/virtual-time.js';
import { runUnderGuard, type GuardEnd } from './played-guard.js';

const ns = (ms: number): bigint => BigInt(ms * NS_PER_MS);

class Guarded {
  readonly time = new VirtualTime();
  readonly life: Life;
  readonly signal = new AbortController();
  begun = false;
  ended: { how: GuardEnd; atMs: number } | undefined;

  constructor(host: Omit<VirtualClockOptions, 'name'> = {}) {
    const clock = new VirtualClock(this.time, { name: 'parent', ...host });
    this.life = new Life('parent', clock, new CrashPoints(nobodyCrashes));
  }

  run(untilNs: () => bigint, takesMs: number, orphanMs = 0): void {
    void runUnderGuard(this.time, this.life, {
      name: 'command',
      untilNs,
      signal: this.signal.signal,
      guardMs: 5,
      startMs: 10,
      orphanMs,
      begin: (exit) => {
        this.begun = true;
        this.time.schedule(takesMs * NS_PER_MS, 'work', exit);
      },
    }).then((how) => (this.ended = { how, atMs: this.time.nowMs }));
  }
}

describe('the played guard', () => {
  it('does not begin a command whose deadline has passed', async () => {
    const sut = new Guarded();
    await sut.time.advance(100);
    sut.run(() => ns(100), 5);
    await sut.time.advance(100);
    expect(sut.ended?.how).toBe('refused');
    expect(sut.begun).toBe(false);
  });

  it('does not begin a command whose deadline passes while it starts itself', async () => {
    const sut = new Guarded();
    sut.run(() => ns(4), 5);
    await sut.time.advance(100);
    expect(sut.ended?.how).toBe('refused');
    expect(sut.begun).toBe(false);
  });

  it('kills at the deadline of a host whose clock is not ours', async () => {
    const sut = new Guarded({ hostUptimeMs: 70_000, rate: 0.5 });
    sut.run(() => ns(71_000), 60_000);
    await sut.time.advance(10_000);
    expect(sut.ended?.how).toBe('deadline');
    expect(sut.ended?.atMs).toBeCloseTo(2_001, 0);
  });

  it('kills at the deadline, which the parent moves while it runs', async () => {
    const sut = new Guarded();
    sut.run(() => ns(Math.min(3_000, sut.time.nowMs + 1_000)), 60_000);
    await sut.time.advance(10_000);
    expect(sut.ended?.how).toBe('deadline');
    expect(sut.ended?.atMs).toBeCloseTo(3_001, 0);
  });

  it('kills at the last deadline that it was told, where the parent is stopped', async () => {
    const sut = new Guarded();
    sut.run(() => ns(sut.time.nowMs + 1_000), 60_000);
    await sut.time.advance(700);
    sut.life.clock.pause();
    await sut.time.advance(5_000);
    sut.life.clock.resume();
    await sut.time.advance(10);
    expect(sut.ended?.how).toBe('deadline');
  });

  it('tells a dead parent nothing', async () => {
    const sut = new Guarded();
    sut.run(() => ns(2_000), 500, 10_000);
    await sut.time.advance(100);
    sut.life.end();
    await sut.time.advance(5_000);
    expect(sut.begun).toBe(true);
    expect(sut.ended).toBeUndefined();
  });

  it('kills by the signal', async () => {
    const sut = new Guarded();
    sut.run(() => ns(60_000), 50_000);
    await sut.time.advance(100);
    sut.signal.abort();
    await sut.time.advance(10);
    expect(sut.ended?.how).toBe('killed');
  });
});

import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../time/virtual-clock.js';
import { NS_PER_MS, VirtualTime } from '../time/virtual-time.js';
import { crashAt, CrashPoints, nobodyCrashes, type CrashPlan } from './crash-points.js';
import { Life } from './life.js';
import { SimProcess } from './sim-process.js';

/** A world with one port: a store that keeps what it is told, and answers 5 ms later. */
class OneStore {
  readonly time = new VirtualTime();
  readonly kept: string[] = [];
  readonly told: string[] = [];
  readonly points: CrashPoints;
  readonly process: SimProcess;

  constructor(plan: CrashPlan = nobodyCrashes) {
    this.points = new CrashPoints(plan);
    this.process = new SimProcess(this.time, {
      name: 'writer',
      born: () => new Life('writer', new VirtualClock(this.time, { name: 'writer' }), this.points),
      program: (life) => this.program(life),
      restartMs: () => 1_000,
    });
  }

  private async program(life: Life): Promise<{ stop(): Promise<void> }> {
    const writing = life.clock.every(100, () => {
      const what = `${this.process.lives}:${life.clock.monotonicMs()}`;
      void life.call('store.put', () => this.put(life, what)).then(() => this.told.push(what));
    });
    return Promise.resolve({ stop: () => Promise.resolve(writing.cancel()) });
  }

  private put(life: Life, what: string): Promise<void> {
    this.kept.push(what);
    return new Promise((resolve) => void life.clock.incoming(5 * NS_PER_MS, 'stored', resolve));
  }
}

describe('a process of a simulation', () => {
  it('that dies before the effect of a call leaves nothing behind, and is started again', async () => {
    const sut = new OneStore(crashAt(2));
    sut.process.start();
    await sut.time.advance(1_500);
    expect(sut.kept.slice(0, 2)).toEqual(['1:100', '2:100']);
    expect(sut.told[0]).toBe('1:100');
    expect(sut.process.lives).toBe(2);
  });

  it('that dies before the answer of a call has had its effect, and never hears of it', async () => {
    const sut = new OneStore(crashAt(1));
    sut.process.start();
    await sut.time.advance(1_250);
    expect(sut.kept).toEqual(['1:100', '2:100']);
    expect(sut.told).toEqual(['2:100']);
  });

  it('that stands still does nothing, and goes on with what was due and what was answered meanwhile', async () => {
    const sut = new OneStore();
    sut.process.start();
    await sut.time.advance(102);
    sut.process.pause();
    await sut.time.advance(1_000);
    expect(sut.kept).toEqual(['1:100']);
    expect(sut.told).toEqual([]);
    sut.process.resume();
    await sut.time.advance(1);
    expect(sut.told[0]).toBe('1:100');
  });

  it('that is removed stays away', async () => {
    const sut = new OneStore();
    sut.process.start();
    sut.process.remove();
    await sut.time.advance(5_000);
    expect(sut.process.alive).toBe(false);
    expect(sut.kept).toEqual([]);
  });

  it('that was stopped in order comes again', async () => {
    const sut = new OneStore();
    sut.process.start();
    await sut.time.advance(150);
    await sut.time.settle(sut.process.restart());
    await sut.time.advance(1_200);
    expect(sut.process.lives).toBe(2);
    expect(sut.kept.slice(0, 2)).toEqual(['1:100', '2:100']);
  });
});

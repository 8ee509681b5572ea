import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog, systemClock } from '#bus';
import type { Clock } from '#contracts';
import { DriverWatch } from './driver-watch.js';

/** Timers that wait to be let go. */
class HeldTimers {
  readonly due: { ms: number; fn: () => void }[] = [];
  readonly clock: Clock = {
    ...systemClock,
    after: (ms, fn) => {
      const timer = { ms, fn };
      this.due.push(timer);
      return { cancel: () => void this.due.splice(this.due.indexOf(timer), this.due.includes(timer) ? 1 : 0) };
    },
  };

  /** Lets the next one go. @returns the ms that it was set for */
  next(): number {
    const timer = this.due.shift();
    timer?.fn();
    return timer?.ms ?? 0;
  }
}

describe('the watch over the power drivers', () => {
  let passing: string[];
  let timers: HeldTimers;
  let watch: DriverWatch;
  let told: number;
  beforeEach(async () => {
    passing = ['ipmitool'];
    told = 0;
    timers = new HeldTimers();
    const drivers = { test: () => Promise.resolve(passing) };
    watch = new DriverWatch({ clock: timers.clock, log: silentLog, drivers });
    watch.onChange(() => told++);
    await watch.start();
  });
  afterEach(() => watch.stop());

  /** The next test, to its end. @returns the ms that were waited for it */
  async function tested(): Promise<number> {
    const ms = timers.next();
    await new Promise((resolve) => systemClock.soon(() => resolve(undefined)));
    return ms;
  }

  it('takes a driver off after three failed tests in a row, and tests sooner meanwhile', async () => {
    passing = [];
    expect(await tested()).toBe(60_000);
    expect([watch.names(), watch.failing(), watch.works('ipmitool')]).toEqual([['ipmitool'], ['ipmitool'], false]);
    expect(await tested()).toBe(5_000);
    expect(watch.names()).toEqual(['ipmitool']);
    expect(await tested()).toBe(5_000);
    expect([watch.names(), watch.failing()]).toEqual([[], []]);
    passing = ['ipmitool'];
    expect(await tested()).toBe(5_000);
    expect([watch.names(), watch.failing(), watch.works('ipmitool')]).toEqual([['ipmitool'], [], true]);
    expect(timers.due.map((t) => t.ms)).toEqual([60_000]);
  });

  it('a test that passes in between begins the row anew', async () => {
    for (const passed of [[], [], ['ipmitool'], [], []]) {
      passing = passed;
      await tested();
    }
    expect(watch.names()).toEqual(['ipmitool']);
  });

  it('a command that could not be started counts once, however many there were, and one that could ends it', () => {
    for (let i = 0; i < 5; i++) watch.note('ipmitool', false);
    expect([watch.names(), watch.failing(), told]).toEqual([['ipmitool'], ['ipmitool'], 2]);
    expect(timers.due.map((t) => t.ms)).toEqual([5_000]);
    watch.note('ipmitool', true);
    expect([watch.failing(), told]).toEqual([[], 3]);
  });

  it('does not offer what never passed', async () => {
    watch.note('redfish', true);
    passing = [];
    await tested();
    expect(watch.names()).toEqual(['ipmitool']);
    expect(watch.works('redfish')).toBe(false);
  });
});

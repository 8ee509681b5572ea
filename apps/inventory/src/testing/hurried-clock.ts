import type { Clock } from '#contracts';
import { systemClock } from '#bus/system/system-clock.js';

/**
 * Time as it passes for a process of a spec that cannot wait for minutes: so many times as fast, waits included. What
 * dates a record stays true.
 */
export const hurriedClock = (times: number): Clock => ({
  monotonicMs: () => systemClock.monotonicMs() * times,
  monotonicNs: () => systemClock.monotonicNs() * BigInt(times),
  wallMs: () => systemClock.wallMs(),
  sleep: (ms, o) => systemClock.sleep(ms / times, o),
  after: (ms, fn, o) => systemClock.after(ms / times, fn, o),
  every: (ms, fn, o) => systemClock.every(ms / times, fn, o),
  soon: (fn) => systemClock.soon(fn),
});

import { performance } from 'node:perf_hooks';
import type { Clock, Timer, TimerOptions } from '#contracts/ports/clock.js';

/** The machine's own clocks and Node's timers. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  monotonicNs: () => process.hrtime.bigint(),
  wallMs: () => Date.now(),
  sleep: (ms, o = {}) =>
    new Promise((resolve) => {
      if (o.signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        o.signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      if (o.background === true) timer.unref();
      o.signal?.addEventListener('abort', end, { once: true });
    }),
  after: (ms, fn, o) => timerOf(setTimeout(fn, ms), o),
  every: (ms, fn, o) => timerOf(setInterval(fn, ms), o),
  soon: (fn) => void setImmediate(fn),
};

function timerOf(timer: NodeJS.Timeout, o: TimerOptions = {}): Timer {
  if (o.background === true) timer.unref();
  return { cancel: () => clearTimeout(timer) };
}

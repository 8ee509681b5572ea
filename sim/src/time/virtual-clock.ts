import type { Clock, Timer, TimerOptions } from '#contracts';
import type { QueuedEvent } from './event-queue.js';
import { NS_PER_MS, type VirtualTime } from './virtual-time.js';

export interface VirtualClockOptions {
  /** In the labels of its events. */
  name: string;
  /** How long its host was up when the world began, ms: processes of one host have one and the same. @default 0 */
  hostUptimeMs?: number;
  /** What its wall clock showed when the world began. @default 2026-01-01 */
  wallMs?: number;
  /** ms of its own in each virtual ms: clocks of two machines are never the same. @default 1 */
  rate?: number;
  /** How much later than asked a timer is due, ms; Node's may also be up to 1 ms early. @default never */
  lateMs?(): number;
}

const WALL_MS = Date.UTC(2026, 0, 1);
/** Node makes 1 ms of anything longer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Time as one simulated process sees it. While it is stopped, its clocks go on and nothing happens in it; when it wakes,
 * what was due meanwhile happens in order. A process that ended hears of nothing any more.
 */
export class VirtualClock implements Clock {
  private readonly bornMs: number;
  private readonly rate: number;
  private wallShiftMs: number;
  private stopped = false;
  private over = false;
  /** Was due while it was stopped, or while such things were still being done. */
  private backlog: QueuedEvent[] = [];
  private waking = false;
  private readonly door = (event: QueuedEvent): boolean => this.admits(event);

  constructor(
    private readonly time: VirtualTime,
    private readonly o: VirtualClockOptions,
  ) {
    this.rate = o.rate ?? 1;
    this.bornMs = this.hostMs();
    this.wallShiftMs = o.wallMs ?? WALL_MS;
  }

  get name(): string {
    return this.o.name;
  }

  get paused(): boolean {
    return this.stopped;
  }

  get ended(): boolean {
    return this.over;
  }

  monotonicMs(): number {
    return this.hostMs() - this.bornMs;
  }

  monotonicNs(): bigint {
    return BigInt(Math.round(this.hostMs() * NS_PER_MS));
  }

  /** The moment of the world at which {@link monotonicNs} shows this, virtual ms. */
  virtualMs(atNs: bigint): number {
    return (Number(atNs) / NS_PER_MS - (this.o.hostUptimeMs ?? 0)) / this.rate;
  }

  wallMs(): number {
    return Math.floor(this.wallShiftMs + this.time.nowMs * this.rate);
  }

  sleep(ms: number, o: TimerOptions & { signal?: AbortSignal } = {}): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = o;
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.after(ms, end);
      signal?.addEventListener('abort', end, { once: true });
    });
  }

  after(ms: number, fn: () => void): Timer {
    return this.incoming(this.dueNs(ms), this.o.name, fn);
  }

  every(ms: number, fn: () => void): Timer {
    let cancelled = false;
    const tick = (): void => {
      try {
        fn();
      } finally {
        if (!cancelled) timer = this.after(ms, tick);
      }
    };
    let timer = this.after(ms, tick);
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  soon(fn: () => void): void {
    this.incoming(0, this.o.name, fn);
  }

  /**
   * Something from outside reaches this process, e.g. a message: held back while it is stopped, in the order of what is
   * due, and dropped with it.
   * @param delayNs of virtual time
   */
  incoming(delayNs: number, label: string, fn: () => void): Timer {
    return this.over ? NEVER : this.time.schedule(delayNs, label, fn, this.door);
  }

  private admits(event: QueuedEvent): boolean {
    if (this.over) return false;
    if (!this.stopped && this.backlog.length === 0) return true;
    this.backlog.push(event);
    return false;
  }

  /** SIGSTOP, a stalled host: nothing happens in it. */
  pause(): void {
    this.stopped = true;
  }

  resume(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.wake();
  }

  /** For good. */
  end(): void {
    this.over = true;
    this.backlog = [];
  }

  /** Somebody sets the wall clock. */
  jumpWall(ms: number): void {
    this.wallShiftMs += ms;
  }

  /** One event for each, so that what follows from it is done before the next. */
  private wake(): void {
    if (this.waking || this.stopped || this.backlog.length === 0) return;
    this.waking = true;
    this.time.schedule(0, this.o.name, () => {
      this.waking = false;
      if (this.stopped || this.over) return;
      try {
        this.backlog[0]?.fn?.();
      } finally {
        this.backlog.shift();
        this.wake();
      }
    });
  }

  private hostMs(): number {
    return (this.o.hostUptimeMs ?? 0) + this.time.nowMs * this.rate;
  }

  private dueNs(ms: number): number {
    const asked = ms >= 1 && ms <= LONGEST_MS ? Math.trunc(ms) : 1;
    const late = this.o.lateMs?.() ?? 0;
    return Math.max(0, ((asked + late) * NS_PER_MS) / this.rate);
  }
}

const NEVER: Timer = { cancel: () => undefined };

/** A timer that was set. Cancelling one that is over changes nothing. */
export interface Timer {
  cancel(): void;
}

export interface TimerOptions {
  /** Does not keep the process alive. @default false */
  background?: boolean;
}

/**
 * Time as a process sees it. Everything that waits, measures or dates asks its clock, so that a simulation can play it;
 * each process of a simulation has one of its own.
 */
export interface Clock {
  /** ms since some moment of this process's own: for ages and durations, never for another process. */
  monotonicMs(): number;
  /** CLOCK_MONOTONIC, ns: one and the same for every process of a host, also while this one was stopped. */
  monotonicNs(): bigint;
  /** ms since 1970. For people and records; it may jump, so nothing is decided by it. */
  wallMs(): number;
  /** Resolves after `ms`, and at once where `signal` is or becomes aborted. */
  sleep(ms: number, o?: TimerOptions & { signal?: AbortSignal }): Promise<void>;
  /** Calls once. It may be called a millisecond early: who must not act early asks {@link monotonicNs}. */
  after(ms: number, fn: () => void, o?: TimerOptions): Timer;
  /** Calls again and again, the first time after `ms`. */
  every(ms: number, fn: () => void, o?: TimerOptions): Timer;
  /** Calls once, after the I/O that is pending now was handled. */
  soon(fn: () => void): void;
}

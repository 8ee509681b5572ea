import type { Clock } from '#contracts';

/** One task's way to say that it moves. */
export interface Pulse {
  beat(): void;
  /** The task is over: it need not move any more. */
  end(): void;
}

/** A task that stands still. */
export interface Stalled {
  task: string;
  /** Since its last beat, ms. */
  forMs: number;
}

/**
 * The tasks of a process that must never stand still. An event loop that turns proves nothing of them: one that waits for
 * a promise that never settles looks alive, and holds a lease that it will not renew, or keeps others from standing in.
 */
export class Pulses {
  private readonly tasks = new Map<Pulse, { task: string; limitMs: number; at: number }>();

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {}

  /** From now on this task must beat at least every `limitMs`. */
  begin(task: string, limitMs: number): Pulse {
    const state = { task, limitMs, at: this.clock.monotonicMs() };
    const pulse: Pulse = {
      beat: () => (state.at = this.clock.monotonicMs()),
      end: () => this.tasks.delete(pulse),
    };
    this.tasks.set(pulse, state);
    return pulse;
  }

  /** Those that have not beaten for longer than they may, now. */
  stalled(): Stalled[] {
    const now = this.clock.monotonicMs();
    return [...this.tasks.values()]
      .filter(({ at, limitMs }) => now - at > limitMs)
      .map(({ task, at }) => ({ task, forMs: Math.round(now - at) }));
  }
}

import { setImmediate as realImmediate } from 'node:timers';
import { EventHash } from './event-hash.js';
import { EventQueue, type QueuedEvent } from './event-queue.js';

export const NS_PER_MS = 1_000_000;

/** Taken back: it never happens. */
export interface Scheduled {
  cancel(): void;
}

export interface VirtualTimeOptions {
  /** Told of each event before it happens, e.g. for the story of one history. */
  onEvent?(atNs: number, label: string): void;
}

/** So many events between two looks at the machine's own I/O. */
const BATCH = 64;

/**
 * The time of one simulated world: a queue of events that jumps from one to the next. Between two of them all that
 * follows from the first is done (every promise that it settles, and what these settle), so that no virtual time passes
 * while somebody still works. What is due at one moment happens in the order in which it was asked for.
 */
export class VirtualTime {
  private readonly queue = new EventQueue();
  private readonly hashed = new EventHash();
  private now = 0;
  private sequence = 0;
  private count = 0;
  private running = false;

  constructor(private readonly o: VirtualTimeOptions = {}) {}

  /** Since the world began. */
  get nowNs(): number {
    return this.now;
  }

  get nowMs(): number {
    return this.now / NS_PER_MS;
  }

  /** That have happened. */
  get events(): number {
    return this.count;
  }

  /** Of every event's label and moment, and of all that was {@link trace}d: see {@link EventHash}. */
  get hash(): string {
    return this.hashed.digest;
  }

  /**
   * @param delayNs from now; what is in the past, or no number, is due at once
   * @param admits see {@link QueuedEvent}
   */
  schedule(delayNs: number, label: string, fn: () => void, admits?: QueuedEvent['admits']): Scheduled {
    const event: QueuedEvent & Scheduled = {
      atNs: this.now + (delayNs > 0 ? Math.round(delayNs) : 0),
      sequence: this.sequence++,
      label,
      fn,
      admits,
      cancel,
    };
    this.queue.push(event);
    return event;
  }

  /** Goes into the hash: what somebody did within an event. */
  trace(what: string): void {
    this.hashed.add(what, this.now);
  }

  /** Lets so much time pass. Rejects with what an event threw; what was due later stays queued. */
  async advance(ms: number): Promise<void> {
    await this.run(this.now + Math.round(ms * NS_PER_MS), () => false);
  }

  /** Until it holds, asked after each event. False: it does not within so many virtual ms, and nothing more could make it. */
  async until(holds: () => boolean, withinMs: number): Promise<boolean> {
    await this.run(this.now + Math.round(withinMs * NS_PER_MS), holds);
    return holds();
  }

  /** Lets time pass until it is settled, and hands it over. Throws where it is not within so many virtual ms. */
  async settle<T>(work: Promise<T>, withinMs = 60_000): Promise<T> {
    let settled = false;
    const end = (): void => {
      settled = true;
    };
    work.then(end, end);
    if (!(await this.until(() => settled, withinMs))) throw new Error(`not settled within ${withinMs} virtual ms`);
    return work;
  }

  /**
   * One immediate for each event: Node drains its microtasks and ticks between two of them. They are asked for by the
   * batch, since each batch is a turn of the real event loop, which costs more than most events.
   */
  private run(untilNs: number, enough: () => boolean): Promise<void> {
    if (this.running) throw new Error('virtual time runs already: an event cannot wait for later ones');
    this.running = true;
    return new Promise((resolve, reject) => {
      let over = false;
      const end = (failure?: { error: unknown }): void => {
        over = true;
        this.running = false;
        if (failure) reject(failure.error);
        else resolve();
      };
      const step = (): void => {
        if (over) return;
        try {
          if (enough()) return end();
          const next = this.queue.peek();
          if (next === undefined || next.atNs > untilNs) {
            this.now = untilNs;
            return end();
          }
          this.queue.pop();
          this.happen(next);
        } catch (error) {
          end({ error });
        }
      };
      const lastStep = (): void => {
        step();
        if (!over) batch();
      };
      const batch = (): void => {
        for (let i = 1; i < BATCH; i++) realImmediate(step);
        realImmediate(lastStep);
      };
      batch();
    });
  }

  private happen(event: QueuedEvent): void {
    this.now = event.atNs;
    this.count++;
    this.hashed.add(event.label, event.atNs);
    this.o.onEvent?.(event.atNs, event.label);
    if (event.admits?.(event) !== false) event.fn?.();
  }
}

function cancel(this: QueuedEvent): void {
  this.fn = undefined;
}

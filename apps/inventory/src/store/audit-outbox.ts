import type { Clock, EventMap } from '#contracts';

/** One event of the audit that is to be stored. */
export interface AuditEntry {
  id: string;
  key: string;
  data: EventMap['audit'];
}

/** So many wait for the store at most; of more the newest are lost, ones that describe a storm of refusals for the most part. */
export const MOST_WAITING = 1_000;
/** Between two tries while the store does not answer, ms. */
const AGAIN_MS = 1_000;
/** A caller waits for its own event this long at most, ms: then it is stored after the answer. */
const CALLER_WAITS_MS = 2_000;

export interface AuditOutboxOptions {
  clock: Pick<Clock, 'after' | 'sleep'>;
  /** Stores one; twice with the same id is once. */
  store(entry: AuditEntry): Promise<void>;
  /** One that will never be stored, and why. */
  lost(entry: AuditEntry, cause: unknown): void;
}

/**
 * Keeps events of the audit in their order until the store has taken them: an act that was carried out while there was
 * no quorum is on record afterwards. It lives in memory; what a crash takes with it is in the log line of the act alone.
 */
export class AuditOutbox {
  private readonly waiting: { entry: AuditEntry; done: () => void }[] = [];
  private running: Promise<void> | undefined;
  private closing = false;
  private lastFailure: unknown = new Error('the process ended');

  constructor(private readonly o: AuditOutboxOptions) {}

  /** Resolves when it is stored or lost, and after 2 s at the latest. */
  async add(entry: AuditEntry): Promise<void> {
    if (this.waiting.length >= MOST_WAITING) {
      this.o.lost(entry, this.lastFailure);
      return;
    }
    const stored = new Promise<void>((resolve) => {
      this.waiting.push({ entry, done: resolve });
    });
    this.running ??= this.run();
    await new Promise<void>((resolve) => {
      const timer = this.o.clock.after(CALLER_WAITS_MS, resolve);
      void stored.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Tries what waits once more, and gives up what the store does not take. */
  async close(): Promise<void> {
    this.closing = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const failure = await this.tried(next.entry);
      if (failure !== undefined) {
        this.lastFailure = failure.cause;
        if (!this.closing) {
          await this.o.clock.sleep(AGAIN_MS);
          continue;
        }
        for (const { entry, done } of this.waiting.splice(0)) {
          this.o.lost(entry, failure.cause);
          done();
        }
        break;
      }
      this.waiting.shift();
      next.done();
    }
    this.running = undefined;
  }

  private async tried(entry: AuditEntry): Promise<{ cause: unknown } | undefined> {
    try {
      await this.o.store(entry);
      return undefined;
    } catch (cause) {
      return { cause };
    }
  }
}

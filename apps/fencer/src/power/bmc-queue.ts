/** In the order in which they go: offs first, what proves them next, everything else waits. */
export const Urgency = { off: 0, proof: 1, read: 2 } as const;
export type Urgency = (typeof Urgency)[keyof typeof Urgency];

/** A place at a BMC; give it back when the command has ended. */
export interface BmcTurn {
  end(): void;
}

interface Waiting {
  bmc: string;
  urgency: Urgency;
  start: () => void;
}

/** 50 commands at once take 1–2 s on a small machine, more than 64 begin to time out. */
const MOST_AT_ONCE = 32;

/** One command in flight per BMC, 32 in all. Many BMCs carry out two overlapping sessions in the wrong order. */
export class BmcQueue {
  private readonly busy = new Set<string>();
  private waiting: Waiting[] = [];

  /** Resolves when it is this command's turn, or to undefined when `signal` aborts first. */
  turn(bmc: string, urgency: Urgency, signal?: AbortSignal): Promise<BmcTurn | undefined> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve(undefined);
        return;
      }
      const entry: Waiting = {
        bmc,
        urgency,
        start: () => {
          signal?.removeEventListener('abort', leave);
          this.busy.add(bmc);
          let ended = false;
          resolve({
            end: () => {
              if (ended) return;
              ended = true;
              this.busy.delete(bmc);
              this.next();
            },
          });
        },
      };
      const leave = (): void => {
        this.waiting = this.waiting.filter((w) => w !== entry);
        resolve(undefined);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.waiting.push(entry);
      this.next();
    });
  }

  private next(): void {
    while (this.busy.size < MOST_AT_ONCE) {
      const free = this.waiting.filter((w) => !this.busy.has(w.bmc));
      const first = free.reduce<Waiting | undefined>(
        (best, w) => (best === undefined || w.urgency < best.urgency ? w : best),
        undefined,
      );
      if (first === undefined) return;
      this.waiting = this.waiting.filter((w) => w !== first);
      first.start();
    }
  }
}

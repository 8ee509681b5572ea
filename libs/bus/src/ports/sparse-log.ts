import { forgetOldest } from './forget-oldest.js';

/**
 * For log lines that a stranger can bring about as often as he likes: a few of each kind, then one now and then that says
 * how many were left out (generic cell rate algorithm).
 */
export class SparseLog {
  /** Kind → when its lines are worked off, ms, and those left out since the last one; the latest is last. */
  private readonly kinds = new Map<string, { workedOff: number; leftOut: number }>();

  constructor(
    private readonly o: {
      /** Lines of a kind at once. */
      burst: number;
      /** One more after each of these, ms. */
      every: number;
      /** Kinds that are remembered. @default 1000 */
      kinds?: number;
    },
  ) {}

  /**
   * @param now monotonic, ms
   * @returns how many of the kind were left out before this line; undefined: leave it out as well
   */
  next(kind: string, now: number): number | undefined {
    const { burst, every, kinds = 1000 } = this.o;
    const was = this.kinds.get(kind) ?? { workedOff: now, leftOut: 0 };
    const from = Math.max(now, was.workedOff);
    const isTooMuch = from - now > (burst - 1) * every;
    this.kinds.delete(kind);
    this.kinds.set(kind, isTooMuch ? { ...was, leftOut: was.leftOut + 1 } : { workedOff: from + every, leftOut: 0 });
    forgetOldest(this.kinds, kinds);
    return isTooMuch ? undefined : was.leftOut;
  }
}

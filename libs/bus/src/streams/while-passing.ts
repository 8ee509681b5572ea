import type { Link } from '../ports/link.js';
import { isPassing } from '../ports/log-failure.js';

export interface Repeated {
  /** No try begins a wait after it: monotonic, ms. */
  deadline: number;
  /** Between two tries, ms. */
  everyMs: number;
  /** Called with each failure after which it is tried again. */
  failed?: (e: unknown) => void;
}

/**
 * What `work` resolves with: it is done again while it fails of what passes by itself, such as an election. Rejects with
 * any other failure at once, with the last one after the deadline or once the link is closed.
 */
export async function whilePassing<R>(link: Link, o: Repeated, work: () => Promise<R>): Promise<R> {
  for (;;)
    try {
      return await work();
    } catch (e) {
      const left = o.deadline - link.clock.monotonicMs();
      if (!isPassing(e) || link.closed || left <= 0) throw e;
      o.failed?.(e);
      await link.whenConnected(left);
      await link.clock.sleep(Math.min(left, o.everyMs));
    }
}

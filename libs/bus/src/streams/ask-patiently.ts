import type { Link } from '../ports/link.js';
import { isPassing } from '../ports/log-failure.js';
import { patienceWith } from '../servers/patience.js';

/** How long a read waits for the store where its caller names no limit, ms: longer than an election on a cluster. */
export const readLimitMs = (link: Link): number => patienceWith(link.wire.serverInfo).limitMs;

/**
 * A question that changes nothing, asked again while a cluster has no server that answers it. On a single server it is
 * asked once: nobody else would answer.
 * @param deadline monotonic, ms
 */
export async function askPatiently<R>(link: Link, deadline: number, ask: () => Promise<R>): Promise<R> {
  const { askAgainMs } = patienceWith(link.wire.serverInfo);
  for (;;)
    try {
      return await ask();
    } catch (e) {
      const left = deadline - link.clock.monotonicMs();
      if (askAgainMs === undefined || !isPassing(e) || link.closed || left <= 0) throw e;
      await link.whenConnected(left);
      await link.clock.sleep(Math.min(left, askAgainMs));
    }
}

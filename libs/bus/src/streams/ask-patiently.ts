import type { Link } from '../ports/link.js';
import { patienceWith } from '../servers/patience.js';
import { whilePassing } from './while-passing.js';

/** How long a read waits for the store where its caller names no limit, ms: longer than an election on a cluster. */
export const readLimitMs = (link: Link): number => patienceWith(link.wire.serverInfo).limitMs;

/**
 * A question that changes nothing, asked again while a cluster has no server that answers it. On a single server it is
 * asked once: nobody else would answer.
 * @param deadline monotonic, ms
 */
export async function askPatiently<R>(link: Link, deadline: number, ask: () => Promise<R>): Promise<R> {
  const { askAgainMs } = patienceWith(link.wire.serverInfo);
  return askAgainMs === undefined ? ask() : whilePassing(link, { deadline, everyMs: askAgainMs }, ask);
}

import type { AgentFacts } from '#contracts';
import type { HeardReport } from '../reports/reports-view.js';

/** Peers that are named of one network at most: a node that hears nobody would name all. */
const MOST_PEERS = 8;

/**
 * What is known of an agent by its last report.
 * @param now monotonic ms of the process that heard it
 * @param missesForSuspicion so many misses in a row are no bad luck
 */
export function agentFacts(
  node: string,
  heard: HeardReport | undefined,
  now: number,
  missesForSuspicion: number,
): AgentFacts {
  if (heard === undefined) return { node };
  const { report, metrics, clockOffMs, heardAt } = heard;
  const misses: Record<string, string[]> = {};
  for (const [peer, links] of report.peers)
    for (const [i, [missed]] of links.entries()) {
      const network = report.networks[i];
      if (network === undefined || missed < missesForSuspicion) continue;
      const named = (misses[network] ??= []);
      if (named.length < MOST_PEERS) named.push(peer);
    }
  return {
    node,
    ageMs: Math.round(now - heardAt),
    ...(metrics?.version !== undefined && { version: metrics.version }),
    ...(clockOffMs !== undefined && { clockOffMs }),
    ...(Object.keys(misses).length > 0 && { misses }),
  };
}

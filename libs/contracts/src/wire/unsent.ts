import { isCount, isText } from './wire-checks.js';

/** Where probes of an agent do not leave its own host, on one network: evidence against itself, and against nobody else. */
export interface Unsent {
  /** Peers that it cannot send to there, sorted: of these it says nothing on that network, neither for nor against. */
  peers: string[];
  /** Consecutive probes that did not leave, on the link that has had the most. */
  probes: number;
  /** ms since the first of them. */
  forMs: number;
  /** Why the last one did not leave. */
  error: string;
}

/** Characters of {@link Unsent.error} at most. */
export const UNSENT_ERROR_MOST = 200;

/** Whether this, from the wire, is network → {@link Unsent}. */
export function isUnsentByNetwork(x: unknown): x is Record<string, Unsent> {
  if (typeof x !== 'object' || x === null || Array.isArray(x)) return false;
  return Object.values(x).every((u: unknown) => {
    if (typeof u !== 'object' || u === null) return false;
    const { peers, probes, forMs, error } = u as Partial<Unsent>;
    if (!Array.isArray(peers) || peers.length > 4096 || !peers.every((p) => isText(p))) return false;
    return isCount(probes) && isCount(forMs) && isText(error, UNSENT_ERROR_MOST);
  });
}

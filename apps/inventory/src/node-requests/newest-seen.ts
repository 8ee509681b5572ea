import { isAgentObserver, type LifeSeen } from '#contracts';

/** Observers that are kept: the detectors, with room for hosts that had others before, and of the nodes that were asked. */
export const MOST_DETECTORS = 16;
export const MOST_AGENTS = 8;

/** Observers come and go under new names: the oldest words go, and however many nodes were asked, no detector's. */
export function newestSeen(seen: Record<string, LifeSeen>): Record<string, LifeSeen> {
  const byAge = Object.entries(seen).sort(([, a], [, b]) => b.at - a.at);
  const of = (agents: boolean): [string, LifeSeen][] => byAge.filter(([by]) => isAgentObserver(by) === agents);
  return Object.fromEntries([...of(false).slice(0, MOST_DETECTORS), ...of(true).slice(0, MOST_AGENTS)]);
}

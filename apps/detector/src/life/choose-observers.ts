import { nameHash } from '#contracts';

/** Nodes that are asked to look at one host at most: two must find it silent, and one may fall with it. */
export const ASKED_MOST = 3;

/** A node that could be asked: it reports freshly, and has the host on its list. */
export interface Candidate {
  name: string;
  domain: string;
  /** Networks that it shares with the host, and on which it can send and hears others. */
  networks: number;
  /** The host has shown it life while it lived: only of these, silence says something. */
  telling: boolean;
}

/**
 * Whom to ask about a host: those to whom it spoke before, then others, spread over failure domains other than the
 * host's. The same ones each time while they can look, so that they have seen it live when it dies.
 */
export function chooseObservers(
  host: { name: string; domain: string },
  candidates: readonly Candidate[],
  most = ASKED_MOST,
): string[] {
  const rank = (c: Candidate): number => nameHash(`${host.name}\0${c.name}`);
  const able = candidates
    .filter((c) => c.name !== host.name && c.networks > 0)
    .map((c) => ({ ...c, rank: rank(c) }))
    .sort((a, b) => b.networks - a.networks || a.rank - b.rank || (a.name < b.name ? -1 : 1));
  const used = new Set([host.domain]);
  const chosen: string[] = [];
  for (const telling of [true, false]) {
    const group = able.filter((c) => c.telling === telling);
    const spread = group.filter(({ domain }) => !used.has(domain) && used.add(domain));
    const rest = group.filter((c) => !spread.includes(c));
    // Who stands beside the host may fall with it.
    const beside = (c: Candidate): boolean => c.domain === host.domain;
    for (const { name } of [...spread, ...rest.filter((c) => !beside(c)), ...rest.filter(beside)])
      if (chosen.length < most) chosen.push(name);
  }
  return chosen;
}

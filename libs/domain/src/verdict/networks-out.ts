import type { NodeRecord, Report } from '#contracts';
import { isMember } from '../node/membership.js';

/*
 * When it is the network, and not its nodes. Two questions, of which one may be answered with yes and the other with no:
 * on which networks most members cannot send, by their own word (the detector judges the dead by the others then), and on
 * which most members are not heard, by their verdicts (nothing is done about a node for that).
 */

/** More than half of those that have a network, and at least two. */
export const isMostOf = (count: number, members: number): boolean => count >= 2 && count > members / 2;

/** It cannot send to anybody there, by its own word. */
export const isMuteOn = ({ health }: Pick<Report, 'health'>, network: string): boolean =>
  (health.sendErrors[network] ?? 0) > 0;

/** A member, and what it says. */
export interface MemberWord {
  /** As registered. */
  networks: readonly string[];
  /** A fresh and healthy one; absent: it says nothing. */
  report?: Pick<Report, 'networks' | 'health'>;
}

/**
 * Networks on which more than half of the members that have them, and at least two, cannot send to anybody by their own
 * word: it is the network that is out, a switch whose fall took the addresses of all with it. What a minority says is its
 * own fault, however few of the others report.
 * @param members all of them: one that does not report counts, and says nothing
 */
export function networksOut(members: readonly MemberWord[]): Set<string> {
  const on = new Map<string, number>();
  const mute = new Map<string, number>();
  for (const { networks, report } of members)
    for (const network of networks) {
      on.set(network, (on.get(network) ?? 0) + 1);
      if (report?.networks.includes(network) && isMuteOn(report, network))
        mute.set(network, (mute.get(network) ?? 0) + 1);
    }
  return new Set([...mute].filter(([network, count]) => isMostOf(count, on.get(network) ?? 0)).map(([name]) => name));
}

export const isDegraded = (n: Pick<NodeRecord, 'verdict'>): boolean => n.verdict?.verdict === 'DEGRADED';

export const isSilentOn = (n: Pick<NodeRecord, 'verdict'>, network: string): boolean =>
  isDegraded(n) && n.verdict?.networks.includes(network) === true;

/** Networks that are silent for most of the members that have them, by their verdicts: no node's own fault. */
export function networksDown(nodes: readonly NodeRecord[]): Set<string> {
  // Most fleets have none, and this is asked several times a second.
  if (!nodes.some((n) => isDegraded(n) && isMember(n))) return new Set();
  const members = nodes.filter(isMember);
  const silent = new Set(members.filter(isDegraded).flatMap((n) => n.verdict?.networks ?? []));
  return new Set(
    [...silent].filter((network) => {
      const on = members.filter((n) => network in n.networks);
      return isMostOf(on.filter((n) => isSilentOn(n, network)).length, on.length);
    }),
  );
}

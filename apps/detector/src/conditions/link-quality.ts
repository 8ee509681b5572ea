import type { DetectorCondition } from '#contracts';
import { FLEET, isMass, isSeen, isUnseen, some, type Sight } from './sight.js';

/** In a thousand: from so many lost probes on a network's links are bad, and below so many they are good again. */
export const BAD_PERMILLE = 100;
export const GOOD_PERMILLE = 50;

/**
 * Links must be bad for so long, ms: as long as an agent remembers its probes. What was over before, or ends in a verdict,
 * is no news.
 */
export const QUALITY_HOLD_MS = 60_000;

/** What is bad, from one look to the next. */
export interface BadLinks {
  /** Pairs of node and network ({@link badLink}) → since when their links are bad, monotonic ms. */
  since: ReadonlyMap<string, number>;
  /** Pairs that lose more than good links do, as last measured: a node that loses most is silent to all now and then. */
  losing: ReadonlySet<string>;
  /** Networks that were told to be bad as a whole. */
  whole: ReadonlySet<string>;
}

export const badLink = (node: string, network: string): string => `${node}\0${network}`;

interface OnNetwork {
  nodes: number;
  /** Those whose links have been bad for long enough. */
  bad: string[];
}

/**
 * Loss as the median over a node's observers: one bad link says nothing of a node. A link that is silent has an alarm of
 * its own, or a verdict. Where most nodes of a network have it, it is the network's, until one of them has it at most;
 * where that is every network, the fleet's.
 * @param was of the look before; undefined: there was none, and nobody knows how long it has been so
 */
export function qualityConditions(
  s: Sight,
  was: BadLinks | undefined,
  now: number,
): { conditions: DetectorCondition[]; bad: BadLinks } {
  const since = new Map<string, number>();
  const losing = new Set<string>();
  const byNetwork = new Map<string, OnNetwork>();
  for (const node of s.nodes)
    for (const network of node.networks) {
      const on = byNetwork.get(network) ?? { nodes: 0, bad: [] };
      byNetwork.set(network, on);
      on.nodes++;
      const id = badLink(node.name, network);
      const before = was?.since.get(id);
      const isRated = isSeen(node) && !node.silentOn.includes(network);
      const measured = isRated ? lossOf(s, node, network) : undefined;
      const lost = measured ?? 0;
      const stays = measured === undefined && (isSeen(node) || isUnseen(node)) && was?.losing.has(id) === true;
      if (lost >= GOOD_PERMILLE || stays) losing.add(id);
      const isBad = isRated
        ? lost >= (before === undefined ? BAD_PERMILLE : GOOD_PERMILLE)
        : isUnseen(node) && before !== undefined;
      if (!isBad) continue;
      const from = before ?? (was ? now : -Infinity);
      since.set(id, from);
      if (now - from >= QUALITY_HOLD_MS) on.bad.push(node.name);
    }
  const networks = [...byNetwork].sort(([a], [b]) => (a < b ? -1 : 1));
  const whole = networks.filter(([network, on]) => isWhole(on, was?.whole.has(network) === true)).map(([n]) => n);
  return { conditions: conditionsOf(networks, whole), bad: { since, losing, whole: new Set(whole) } };
}

/** Nodes of a network that is better again are not told one by one while there are several. */
const isWhole = (on: OnNetwork, was: boolean): boolean => isMass(on.bad.length, on.nodes) || (was && on.bad.length > 1);

/** Lower median of what its observers lost; undefined: nobody counted. */
function lossOf(s: Sight, node: { name: string; watchedBy: readonly string[] }, network: string): number | undefined {
  if (!s.remarked.has(node.name)) return 0;
  const lost: number[] = [];
  let counted = 0;
  for (const observer of node.watchedBy) {
    const seen = s.link(observer, node.name, network);
    if (!seen || seen.state === 'silent' || seen.state === 'unknown') continue;
    counted++;
    const some = seen.link[2] ?? 0;
    if (some > 0) lost.push(some);
  }
  if (counted === 0) return undefined;
  // All the others have lost none.
  const at = Math.floor((counted - 1) / 2) - (counted - lost.length);
  return at < 0 ? 0 : lost.sort((a, b) => a - b)[at];
}

function conditionsOf(networks: readonly [string, OnNetwork][], whole: readonly string[]): DetectorCondition[] {
  const say = (subject: string, message: string): DetectorCondition => ({
    code: 'link-quality',
    subject,
    severity: 'warning',
    message,
  });
  if (whole.length > 1 && whole.length === networks.length)
    return [say(FLEET, `Most nodes lose more than ${BAD_PERMILLE / 10} % of their probes on every network.`)];
  const conditions = whole.map((network) =>
    say(
      network,
      `Most nodes lose more than ${BAD_PERMILLE / 10} % of their probes on ${network}: look at the network.`,
    ),
  );
  const single = new Map<string, string[]>();
  for (const [network, on] of networks)
    if (!whole.includes(network)) for (const node of on.bad) single.set(node, [...(single.get(node) ?? []), network]);
  for (const [node, on] of single)
    conditions.push(say(node, `${node} loses more than ${BAD_PERMILLE / 10} % of its probes on ${some(on)}.`));
  return conditions;
}

import type { DetectorCondition } from '#contracts';
import { FLEET, isMass, isSeen, isUnseen, some, type Sight } from './sight.js';

/** In a thousand: from so many lost probes on a network's links are bad, and below so many they are good again. */
export const BAD_PERMILLE = 100;
export const GOOD_PERMILLE = 50;

/** Pairs of node and network whose links are bad. */
export type BadLinks = ReadonlySet<string>;

/**
 * Loss as the median over a node's observers: one bad link says nothing of a node. A link that is silent has an alarm of
 * its own, or a verdict. Where most nodes of a network have it, it is the network's; where that is every network, the
 * fleet's. Returns with it what is bad now, for the next look.
 */
export function qualityConditions(s: Sight, was: BadLinks): { conditions: DetectorCondition[]; bad: BadLinks } {
  const bad = new Set<string>();
  const byNetwork = new Map<string, { nodes: number; bad: string[] }>();
  for (const node of s.nodes)
    for (const network of node.networks) {
      const on = byNetwork.get(network) ?? { nodes: 0, bad: [] };
      byNetwork.set(network, on);
      on.nodes++;
      const id = `${node.name}\0${network}`;
      const isBad =
        isSeen(node) && !node.silentOn.includes(network)
          ? (lossOf(s, node, network) ?? 0) >= (was.has(id) ? GOOD_PERMILLE : BAD_PERMILLE)
          : isUnseen(node) && was.has(id);
      if (!isBad) continue;
      bad.add(id);
      on.bad.push(node.name);
    }
  return { conditions: conditionsOf(byNetwork), bad };
}

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
  // All the others have lost none.
  const at = Math.floor((counted - 1) / 2) - (counted - lost.length);
  return at < 0 ? 0 : lost.sort((a, b) => a - b)[at];
}

function conditionsOf(byNetwork: ReadonlyMap<string, { nodes: number; bad: string[] }>): DetectorCondition[] {
  const networks = [...byNetwork].sort(([a], [b]) => (a < b ? -1 : 1));
  const whole = networks.filter(([, on]) => isMass(on.bad.length, on.nodes)).map(([network]) => network);
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

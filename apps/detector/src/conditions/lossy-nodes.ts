import type { DetectorCondition } from '#contracts';
import type { SightedNode } from './sight.js';

/** What follows of itself where hardly anything that a node sends arrives: its probes, its reports, its questions. */
const FOLLOWS: readonly DetectorCondition['code'][] = ['link-down', 'link-quality', 'agent-health', 'peer-list'];

/** Between the two nodes of a link. */
const PAIR = '~';

/** DEGRADED on every network: it lives, and is heard now and then. */
const isLossy = ({ verdict, networks, silentOn }: SightedNode): boolean =>
  verdict === 'DEGRADED' && networks.length > 0 && networks.every((n) => silentOn.includes(n));

/**
 * Without what is about nodes that lose most of what they send: that they are DEGRADED on all networks is an alarm of
 * its own, and what comes and goes beside it is no news. A link is left out where one of its two ends is such a node.
 * What may hide an attack, or says that a node has no verdict, is never left out.
 */
export function withoutLossy(
  conditions: readonly DetectorCondition[],
  nodes: readonly SightedNode[],
): readonly DetectorCondition[] {
  const lossy = nodes.filter(isLossy).map((n) => n.name);
  if (lossy.length === 0) return conditions;
  return conditions.filter((c) => !FOLLOWS.includes(c.code) || !lossy.some((n) => c.subject.split(PAIR).includes(n)));
}

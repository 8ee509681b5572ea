import type { DetectorCondition } from '#contracts';
import { isSeen, isUnseen, some, type Sight, type SightedNode } from './sight.js';

/** A link must be silent for so long, ms: when a node dies, or rejoins, its links do not change in one moment. */
export const LINK_HOLD_MS = 5_000;
/** And for so long where an end of it loses probes there, ms: by chance such a link is silent now and then. */
export const LOSSY_LINK_HOLD_MS = 60_000;

/** Two nodes that do not hear each other on these networks. */
interface BrokenLink {
  a: string;
  b: string;
  networks: string[];
}

/** {@link BrokenLink} → since when it is silent, monotonic ms. */
export type BrokenSince = ReadonlyMap<string, number>;

const idOf = (x: string, y: string): string => (x < y ? `${x}~${y}` : `${y}~${x}`);

/**
 * Links that are silent while others hear both of their ends on that network, so that it is neither a node nor its
 * network. One direction is enough to call it silent, where the other one does not say that it hears.
 */
function brokenLinks(s: Sight): Map<string, BrokenLink> {
  const seen = new Map(s.nodes.filter(isSeen).map((n) => [n.name, n]));
  const silent: { a: string; b: string; network: string }[] = [];
  for (const target of [...seen.values()].filter((t) => s.remarked.has(t.name)))
    for (const observer of target.watchedBy)
      for (const network of sharedBy(seen.get(observer), target))
        if (s.link(observer, target.name, network)?.state === 'silent')
          silent.push({ a: observer, b: target.name, network });
  const hearsBack = (a: string, b: string, network: string): boolean => s.link(b, a, network)?.state === 'heard';
  const isHeard = (name: string, network: string): boolean =>
    seen.get(name)?.watchedBy.some((o) => s.link(o, name, network)?.state === 'heard') === true;
  const broken = new Map<string, BrokenLink>();
  for (const { a, b, network } of silent) {
    if (hearsBack(a, b, network) || !isHeard(a, network) || !isHeard(b, network)) continue;
    const id = idOf(a, b);
    const link = broken.get(id) ?? { a: a < b ? a : b, b: a < b ? b : a, networks: [] };
    if (!link.networks.includes(network)) link.networks.push(network);
    broken.set(id, link);
  }
  return broken;
}

/** Networks of the target on which neither is silent as a whole; none where the observer is not seen. */
const sharedBy = (observer: SightedNode | undefined, target: SightedNode): readonly string[] => {
  if (observer === undefined) return [];
  if (target.silentOn.length === 0 && observer.silentOn.length === 0) return target.networks;
  return target.networks.filter((n) => !target.silentOn.includes(n) && !observer.silentOn.includes(n));
};

/**
 * `link-down` for a single link, `partly-heard` for a node that several have lost: the fewest nodes that explain all
 * links, roughly. Returns with it since when each link is silent, for the next look; a link with an end that cannot be
 * seen now stays as it was, and is not counted.
 * @param loses most observers of the node lose more of their probes to it on that network than on good links
 */
export function linkConditions(
  s: Sight,
  was: BrokenSince,
  now: number,
  loses: (node: string, network: string) => boolean,
): { conditions: DetectorCondition[]; since: BrokenSince } {
  const broken = brokenLinks(s);
  const since = new Map<string, number>();
  for (const id of broken.keys()) since.set(id, was.get(id) ?? now);
  const unseen = new Set(s.nodes.filter(isUnseen).map((n) => n.name));
  for (const [id, at] of was) if (!since.has(id) && id.split('~').some((name) => unseen.has(name))) since.set(id, at);
  const holdOf = ({ a, b, networks }: BrokenLink): number =>
    networks.some((n) => loses(a, n) || loses(b, n)) ? LOSSY_LINK_HOLD_MS : LINK_HOLD_MS;
  const held = [...broken].filter(([id, l]) => now - (since.get(id) as number) >= holdOf(l)).map(([, link]) => link);
  return { conditions: explain(held), since };
}

function explain(links: readonly BrokenLink[]): DetectorCondition[] {
  const conditions: DetectorCondition[] = [];
  let left = [...links];
  for (;;) {
    const node = worst(left);
    if (node === undefined) break;
    const its = left.filter((l) => l.a === node || l.b === node);
    left = left.filter((l) => !its.includes(l));
    const others = its.map((l) => (l.a === node ? l.b : l.a)).sort();
    const networks = [...new Set(its.flatMap((l) => l.networks))].sort();
    conditions.push({
      code: 'partly-heard',
      subject: node,
      severity: 'warning',
      message: `${node} and ${some(others)} do not hear each other on ${networks.join(', ')}; others hear all of them.`,
    });
  }
  for (const { a, b, networks } of left)
    conditions.push({
      code: 'link-down',
      subject: `${a}~${b}`,
      severity: 'warning',
      message: `${a} and ${b} do not hear each other on ${[...networks].sort().join(', ')}; others hear both.`,
    });
  return conditions;
}

/** The node with the most links, of at least two; the first by name where several have as many. */
export function worst(links: readonly { a: string; b: string }[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { a, b } of links) for (const name of [a, b]) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [first] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return first !== undefined && first[1] >= 2 ? first[0] : undefined;
}

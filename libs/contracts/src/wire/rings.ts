/** Up to this many nodes everybody watches everybody. */
export const SMALL_FLEET = 32;
/** Observers per node beyond that. */
export const RING_COUNT = 16;

/** What the plan looks at: enrolled nodes are watched; those of them that are members watch, and vote. */
export interface WatchedNode {
  name: string;
  /** Not cordoned, not confirmed off. */
  member: boolean;
}

/** fnv1a with murmur3's last mixing: cheap, and neighbours in the alphabet land far apart. */
export function nameHash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Who watches whom. In a small fleet every member watches every node. In a larger one the sorted nodes are put in
 * order on K rings, each by its own seed, and a node is watched by the nearest member before it on each ring that does
 * not watch it already: K observers, spread over the fleet, and one node more or less moves about one observer per
 * ring. The same list gives the same plan in every process.
 */
export class WatchPlan {
  private readonly observers = new Map<string, string[]>();
  private readonly peers = new Map<string, string[]>();

  constructor(nodes: readonly WatchedNode[], k = RING_COUNT, small = SMALL_FLEET) {
    const sorted = [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1));
    const members = sorted.filter((n) => n.member).map((n) => n.name);
    if (sorted.length <= small)
      for (const { name } of sorted)
        this.observers.set(
          name,
          members.filter((m) => m !== name),
        );
    else this.drawRings(sorted, members, k);
    for (const { name } of sorted) this.peers.set(name, []);
    for (const [target, observers] of this.observers) for (const o of observers) this.peers.get(o)?.push(target);
    // Who is no member has no vote, but hears its fleet all the same: it must find its way back.
    for (const { name, member } of sorted) if (!member) this.peers.set(name, [...(this.observers.get(name) ?? [])]);
  }

  /** Members whose votes count for this node. */
  observersOf(target: string): readonly string[] {
    return this.observers.get(target) ?? [];
  }

  /** Whom this node probes. */
  peersOf(observer: string): readonly string[] {
    return this.peers.get(observer) ?? [];
  }

  private drawRings(sorted: readonly WatchedNode[], members: readonly string[], k: number): void {
    const chosenOf = sorted.map((): string[] => []);
    sorted.forEach(({ name }, i) => this.observers.set(name, chosenOf[i] as string[]));
    const most = Math.min(k, members.length);
    // By their places in the sorted list: a thousand nodes are drawn anew whenever one comes or goes.
    const order = sorted.map((_, i) => i);
    for (let ring = 0; ring < k; ring++) {
      const at = sorted.map((n) => nameHash(`${ring}\0${n.name}`));
      order.sort((a, b) => (at[a] as number) - (at[b] as number) || a - b);
      order.forEach((target, i) => {
        const chosen = chosenOf[target] as string[];
        for (let back = 1; back < order.length && chosen.length < most; back++) {
          const o = sorted[order[(i - back + order.length) % order.length] as number] as WatchedNode;
          if (!o.member || chosen.includes(o.name)) continue;
          chosen.push(o.name);
          break;
        }
      });
    }
    for (const chosen of this.observers.values()) chosen.sort();
  }
}

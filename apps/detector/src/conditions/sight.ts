import type { LinkClass, LinkObservation, VerdictKind } from '#contracts';
import { isHeardVerdict } from '#domain/verdict/heard.js';

/** A member, as the conditions look at it. */
export interface SightedNode {
  name: string;
  networks: readonly string[];
  verdict: VerdictKind;
  /** DEGRADED: the silent networks. Somebody else's alarm is about those. */
  silentOn: readonly string[];
  /** Its observers by the plan. */
  watchedBy: readonly string[];
}

/** What the monitor sees of the fleet, as of one moment. */
export interface Sight {
  /** Members. */
  nodes: readonly SightedNode[];
  /** All of whom somebody misses or loses probes, and maybe others. Of the rest no link is looked at: that is nearly everyone. */
  remarked: ReadonlySet<string>;
  /** What a fresh, willing observer that can send to it there says; undefined: nothing that counts. */
  link(observer: string, target: string, network: string): { state: LinkClass; link: LinkObservation } | undefined;
}

/** Its links are seen, and it lives: a condition about it means the link, or its agent, and not the node. */
export const isSeen = (n: Pick<SightedNode, 'verdict'>): boolean => isHeardVerdict(n.verdict);

/** Nobody knows now: what was found before is not called over. */
export const isUnseen = (n: Pick<SightedNode, 'verdict'>): boolean =>
  n.verdict === 'UNKNOWN' || n.verdict === 'SUSPECT';

/** More than half of them, and not just one. */
export const isMass = (count: number, of: number): boolean => count >= 2 && count > of / 2;

/** Subject of what is about most of them, or about nobody in particular. */
export const FLEET = 'fleet';

const NAMED = 5;

/** `a, b, c and 4 more` */
export function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}

/**
 * ms for which something has been seen: from nothing in the first round on.
 * @param before ms in the last round, where it was seen then
 * @param passed ms since that round
 */
export const lasting = (before: number | undefined, passed: number): number =>
  before === undefined ? 0 : before + passed;

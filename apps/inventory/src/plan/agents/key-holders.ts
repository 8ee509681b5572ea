import type { Beacon, NodeRecord, Report, VerdictKind } from '#contracts';
import type { KeyHolder } from './key-rotation.js';

/** By this name the active detector is waited for; no node can be called so, having no serial number. */
export const DETECTOR = 'detector';

/** By these the monitor hears nobody there. LEFT: it said itself that it goes. */
const UNHEARD: readonly (VerdictKind | undefined)[] = ['DOWN', 'LEFT', 'UNKNOWN', undefined];

export interface HolderFacts {
  nodes: readonly NodeRecord[];
  /** The last report of a node, however old: what it has said it has is on its disk. */
  report: (node: string) => { report: Pick<Report, 'keys'>; fresh: boolean } | undefined;
  /** Of the active detector, while it is fresh. */
  beacon: Pick<Beacon, 'keys' | 'sighted'> | undefined;
}

/** Everybody whose datagrams others must be able to prove, by name. Without the monitor nobody counts as unheard. */
export function keyHolders(f: HolderFacts): KeyHolder[] {
  const seen = f.beacon?.sighted === true;
  const nodes = f.nodes
    .filter((n) => n.enrolled)
    .map((n): KeyHolder => {
      const last = f.report(n.name);
      const keys = last?.report.keys;
      const silent = last?.fresh !== true && UNHEARD.includes(n.verdict?.verdict);
      const off = n.confirmedOff !== undefined && silent;
      return { name: n.name, ...(keys && { keys }), heard: !off && !(silent && seen), off };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const { keys } = f.beacon ?? {};
  return [{ name: DETECTOR, ...(keys && { keys }), heard: true, off: false }, ...nodes];
}

import {
  POWER_QUARANTINE_MS,
  unprovenDevices,
  type GateResult,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import { ON_THE_WAY_MS } from './contradiction.js';
import { hasOtherDevices, provenBy } from './proof-doubt.js';

/** The word of a device that is not proven to be its node's own counts so long after the second read, ms. */
const UNPROVEN_WAIT_MS = 3_000;

const EDITED = 'Its power devices were edited after the order to power it off';
const PROVEN_LATE = 'Its device is proven only since its proof of off was held';

/** A node that is not heard now. */
export interface SilentNode {
  node: string;
  /** The boot that it was last heard in. */
  bootId?: string;
  /** Since its own last report, ms; missing: this process has never heard it. */
  unheardMs?: number;
}

/** As of now, for the proof of one incident. */
export interface CollateralFacts {
  /** Since this process saw the proof, ms. */
  provenForMs: number;
  /** Missing: it was deleted. */
  node: NodeRecord | undefined;
  /** A detector that sees the fleet is heard: without one nobody is known to be silent, or not. */
  sighted: boolean;
  /** Other nodes that are not heard. */
  silent: readonly SilentNode[];
  /** Since this process saw each `off` of the incident, ms; undefined: it was there when the process began. */
  offsAgoMs: readonly (number | undefined)[];
  /** Boot of a node that was heard just now. */
  heardIn: (node: string) => string | undefined;
}

type Nodes = NonNullable<IncidentRecord['collateral']>['nodes'];

export type CollateralStep =
  /** The proof counts. */
  | { do: 'counts' }
  /** Not yet. `sighted`: it does a moment later, unless another node is silent by then. */
  | { do: 'wait'; sighted: boolean }
  /** Held: these may be what was powered off instead. `changed`: the record has others. */
  | { do: 'hold'; nodes: Nodes; changed: boolean }
  /**
   * Its devices were edited since, or its device is proven only since it was held: whose machine was powered off is not
   * known. It is powered off anew. `why`: for people, a sentence without its full stop.
   */
  | { do: 'anew'; why: string }
  /** All that it was held for have spoken in their old boot. */
  | { do: 'clear'; spoke: string[] };

/** Devices that the proof rests on and that are not proven to be the node's own. A person's word rests on none. */
function unprovenProof(i: Pick<IncidentRecord, 'proof'>, node: NodeRecord | undefined): PowerDevice[] {
  const unproven = new Set(node && unprovenDevices(node).map((d) => d.id));
  return provenBy(i, node).filter((d) => unproven.has(d.id));
}

/**
 * May what is read of a device stand for the node? One that is not proven may be another machine's, and then that one
 * falls silent when the `off` is given. So its word counts a moment later, and not while another node is silent whose
 * last word came after the off. With proven devices nothing is held: two that die together are both recovered. One that
 * is proven only while its word is held may have been wired anew in between, so that word still stands for nothing. Nor
 * does what devices have said that were edited since.
 */
export function decideCollateral(i: IncidentRecord, f: CollateralFacts): CollateralStep {
  const had = i.collateral?.nodes ?? [];
  if (isOfOtherDevices(i, f.node)) return { do: 'anew', why: EDITED };
  if (unprovenProof(i, f.node).length === 0) {
    const isOrdinary = i.drill === undefined && i.proof?.kind !== 'manual' && f.node !== undefined;
    return had.length > 0 && isOrdinary ? { do: 'anew', why: PROVEN_LATE } : { do: 'counts' };
  }
  // Another boot says that its power was off: that is no end. Nor has one spoken who is silent now: its last report may
  // have left before the off took effect.
  const silent = new Set(f.silent.map((s) => s.node));
  const spoke = (node: string, bootId: string): boolean => f.heardIn(node) === bootId && !silent.has(node);
  const left = had.filter(({ node, bootId }) => bootId === undefined || !spoke(node, bootId));
  const before = new Set([i.node, ...(i.silentBefore ?? []), ...had.map((x) => x.node)]);
  const fresh = f.silent.filter((s) => !before.has(s.node) && f.offsAgoMs.some((ago) => fellWith(s, ago)));
  const nodes = [...left, ...fresh.map(({ node, bootId }) => ({ node, ...(bootId !== undefined && { bootId }) }))];
  if (nodes.length > 0) return { do: 'hold', nodes, changed: fresh.length > 0 || left.length < had.length };
  if (had.length > 0) return { do: 'clear', spoke: had.map((x) => x.node) };
  return f.provenForMs >= UNPROVEN_WAIT_MS && f.sighted ? { do: 'counts' } : { do: 'wait', sighted: f.sighted };
}

/**
 * A person has corrected the devices that called it off. A person's own word rests on none; and what a drill has switched
 * off is switched on again.
 */
export const isOfOtherDevices = (i: IncidentRecord, node: NodeRecord | undefined): boolean =>
  i.drill === undefined && i.proof?.kind !== 'manual' && hasOtherDevices(i, node);

/** Who fell silent with the off, and was not silent before. */
export const fellSilent = (
  i: Pick<IncidentRecord, 'node' | 'silentBefore'>,
  f: Pick<CollateralFacts, 'silent' | 'offsAgoMs'>,
): string[] =>
  f.silent
    .filter((s) => s.node !== i.node && !(i.silentBefore ?? []).includes(s.node))
    .filter((s) => f.offsAgoMs.some((ago) => fellWith(s, ago)))
    .map((s) => s.node);

/** It was heard when the off began, or may have been, and not for longer than an off may take. */
function fellWith(s: SilentNode, offAgoMs: number | undefined): boolean {
  if (offAgoMs === undefined) return true;
  const { unheardMs } = s;
  if (unheardMs === undefined) return false;
  return unheardMs <= offAgoMs + ON_THE_WAY_MS && unheardMs >= offAgoMs - POWER_QUARANTINE_MS;
}

/** A power-off of it may have hit another node, and nobody knows yet. */
export const isHeld = (i: Pick<IncidentRecord, 'phase' | 'collateral'>): boolean =>
  i.phase === 'fenced' && (i.collateral?.nodes.length ?? 0) > 0;

/** While one is held, no device that is not proven powers anything off: the wires may be swapped in more than one place. */
export function heldForCollateral(
  i: IncidentRecord,
  node: NodeRecord,
  all: readonly IncidentRecord[],
): GateResult | undefined {
  const unproven = unprovenDevices(node);
  // First: where it matters to nobody, nobody is looked at.
  if (unproven.length === 0 || i.released?.gates.includes('BRAKE') === true) return undefined;
  const held = all.find((x) => x.id !== i.id && isHeld(x));
  if (held === undefined) return undefined;
  const detail = `${collateralText(held)} Until that is settled nothing is powered off by a device that is not proven: ${unproven.map((d) => d.id).join(', ')}.`;
  return { gate: 'BRAKE', pass: false, detail };
}

export function collateralText(i: IncidentRecord): string {
  const nodes = (i.collateral?.nodes ?? []).map((x) => x.node).join(', ');
  return `The power-off of ${i.node}, by a device that is not proven, may have hit ${nodes}: silent since then.`;
}

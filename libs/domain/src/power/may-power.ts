import { isPaused, type FencingSettings, type NodeRecord } from '#contracts';
import { ungatedText } from '../workload/ungated.js';

/** What forbids to write to a node's power devices. */
export type PowerBar =
  /** The mode is observe, or is not known. */
  | { kind: 'observe' }
  | { kind: 'paused'; by: string; reason: string }
  | { kind: 'not-registered' }
  | { kind: 'cordoned'; by: string; reason: string }
  /** What ran there without a start gate would run a second time from its boot on. */
  | { kind: 'ungated'; workloads: readonly string[] };

/** `detail`: the bar in a sentence. */
export type MayPower = { may: true } | { may: false; bar: PowerBar; detail: string };

/**
 * May this node's power be switched now, outside of a fencing? Mode observe writes to no power device, a pause is meant
 * for both directions, and a cordoned node is its operator's, as is one that ran work without a start gate: nothing would
 * ask before its boot starts that again. Where not, the first bar.
 * @param orderer a cordon, or work without a gate, does not stand against an operator's own order
 * @param fencing undefined: the settings are not known
 * @param node undefined: it is not registered
 * @param wallNow wall clock, ms: a pause ends by the time of day, as people set it
 */
export function mayPower(
  orderer: 'system' | 'operator',
  fencing: Pick<FencingSettings, 'mode' | 'paused'> | undefined,
  node: Pick<NodeRecord, 'cordon' | 'ungated'> | undefined,
  wallNow: number,
): MayPower {
  const bar = firstBar(orderer, fencing, node, wallNow);
  return bar === undefined ? { may: true } : { may: false, bar, detail: barText(bar) };
}

function firstBar(
  orderer: 'system' | 'operator',
  fencing: Pick<FencingSettings, 'mode' | 'paused'> | undefined,
  node: Pick<NodeRecord, 'cordon' | 'ungated'> | undefined,
  wallNow: number,
): PowerBar | undefined {
  if (fencing?.mode !== 'enforce') return { kind: 'observe' };
  const { paused } = fencing;
  if (isPaused(paused, wallNow)) return { kind: 'paused', by: paused.by, reason: paused.reason };
  if (node === undefined) return { kind: 'not-registered' };
  if (orderer === 'operator') return undefined;
  if (node.cordon !== undefined) return { kind: 'cordoned', by: node.cordon.by, reason: node.cordon.reason };
  if (node.ungated !== undefined) return { kind: 'ungated', workloads: node.ungated };
  return undefined;
}

function barText(bar: PowerBar): string {
  switch (bar.kind) {
    case 'observe':
      return 'The mode of fencing is not enforce.';
    case 'paused':
      return `Fencing is paused by ${bar.by}: ${bar.reason}.`;
    case 'not-registered':
      return 'It is not registered.';
    case 'cordoned':
      return `It is cordoned by ${bar.by}: ${bar.reason}.`;
    case 'ungated':
      return `${ungatedText(bar.workloads)}: its boot would start that a second time.`;
  }
}

import type { FencingSettings, IncidentRecord, NodeRecord } from '#contracts';
import { powerBar } from '#domain/power/may-power.js';
import { ungatedText } from '#domain/workload/start-gate.js';

/** The system powers a node on by itself once in this time, ms; one that dies again stays off. */
export const POWER_ON_EVERY_MS = 24 * 3_600_000;

/**
 * Why the system gives this node no power command of its own now; undefined: nothing forbids it. A node that is not
 * registered has no cordon: the fencer refuses it.
 * @param now wall clock, as `paused.until` is a time of day
 */
export function powerOnForbidden(
  f: Pick<FencingSettings, 'mode' | 'paused'>,
  node: Pick<NodeRecord, 'cordon' | 'ungated'> | undefined,
  now: number,
): string | undefined {
  const bar = powerBar('system', f, node ?? {}, now);
  switch (bar?.kind) {
    case 'observe':
      return 'The mode is observe.';
    case 'paused':
      return `${bar.by} paused fencing: ${bar.reason}.`;
    case 'cordoned':
      return `It is cordoned by ${bar.by}: ${bar.reason}.`;
    case 'ungated':
      return `${ungatedText(bar.workloads)}: its boot would start that a second time.`;
    default:
      return undefined;
  }
}

/**
 * What becomes of a fenced node whose workloads run elsewhere.
 * @param now wall clock: a day is a day for people, and outlives every process
 */
export function decidePowerOn(
  i: Pick<IncidentRecord, 'cause' | 'by' | 'proof' | 'order'>,
  fencing: Pick<FencingSettings, 'afterRecovery' | 'mode' | 'paused'>,
  node: Pick<NodeRecord, 'poweredOnAt' | 'cordon' | 'ungated'> | undefined,
  now: number,
): { wanted: boolean; detail: string } {
  if (i.proof?.kind === 'manual')
    return {
      wanted: false,
      detail: `${i.proof.by ?? 'An operator'} confirmed it down by hand, and may stand before it: power it on by hand.`,
    };
  if (i.order !== undefined)
    return { wanted: false, detail: `${i.order.by} ordered its power ${i.order.action} beside it.` };
  if (i.cause === 'manual')
    return { wanted: false, detail: `${i.by ?? 'An operator'} ordered it off: power it on by hand.` };
  const forbidden = powerOnForbidden(fencing, node, now);
  if (forbidden !== undefined) return { wanted: false, detail: `${forbidden} It stays off: power it on by hand.` };
  if (fencing.afterRecovery === 'stay-off') return { wanted: false, detail: 'The policy is to stay off.' };
  const last = (node?.poweredOnAt ?? []).filter((t) => now - t < POWER_ON_EVERY_MS).at(-1);
  if (last !== undefined)
    return {
      wanted: false,
      detail: `It was powered on at ${new Date(last).toISOString()} already, and once in 24 h is the most: it stays off.`,
    };
  return { wanted: true, detail: 'Powered on once the quarantine after the last command has passed.' };
}

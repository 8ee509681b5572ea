import type { FencingSettings, IncidentRecord, NodeRecord } from '#contracts';
import { mayPower } from '#domain/power/may-power.js';

/** The system powers a node on by itself once in this time, ms; one that dies again stays off. */
export const POWER_ON_EVERY_MS = 24 * 3_600_000;

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
  // One that is not registered has no cordon either: the fencer refuses it.
  const permission = mayPower('system', fencing, node ?? {}, now);
  if (!permission.may) return { wanted: false, detail: `${permission.detail} It stays off: power it on by hand.` };
  if (fencing.afterRecovery === 'stay-off') return { wanted: false, detail: 'The policy is to stay off.' };
  const last = (node?.poweredOnAt ?? []).filter((t) => now - t < POWER_ON_EVERY_MS).at(-1);
  if (last !== undefined)
    return {
      wanted: false,
      detail: `It was powered on ${when(last)} already, and once in 24 h is the most: it stays off.`,
    };
  return { wanted: true, detail: 'Powered on once the quarantine after the last command has passed.' };
}

/** A record may hold a number that is no time: its node stays off, and that is said. */
function when(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? 'at a time that cannot be read' : `at ${time.toISOString()}`;
}

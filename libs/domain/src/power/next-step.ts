import type { IncidentRecord, PowerDevice } from '#contracts';
import { decideFence, type FenceMemory, type FenceStep } from './fence-step.js';
import { powerWish } from './power-wish.js';
import { decideSwitch, type SwitchMemory, type SwitchStep } from './switch-step.js';

/** `idle`: nothing is wanted of the node's power. */
export type PowerStep = { do: 'idle' } | FenceStep | SwitchStep;

/**
 * What a fencer does next about a node's power: off, on and soft, and so a cycle, whoever ordered it. Pure: by the record, the devices,
 * this process's own reads, and its own clock.
 * @param now own monotonic clock, ms
 */
export function nextPowerStep(
  i: IncidentRecord,
  levels: readonly (readonly PowerDevice[])[],
  m: FenceMemory & SwitchMemory,
  now: number,
): PowerStep {
  const wish = powerWish(i);
  if (wish === undefined) return { do: 'idle' };
  return wish.verb === 'off' ? decideFence(i, levels, m, now) : decideSwitch(i, wish, levels, m, now);
}

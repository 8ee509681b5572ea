import type { PowerDevice } from '#contracts';
import { decideFence, type FenceMemory, type FenceStep } from './fence-step.js';
import type { NodePower } from './power-wish.js';
import { decideSwitch, type SwitchMemory, type SwitchStep } from './switch-step.js';

/** `idle`: nothing is wanted of the node's power. */
export type PowerStep = { do: 'idle' } | FenceStep | SwitchStep;

/**
 * What a fencer does next about a node's power: off, on and soft, and so a cycle, whoever ordered it. Pure: by what is
 * ordered, the log of its BMC, the devices, this process's own reads, and its own clock.
 * @param now own monotonic clock, ms
 */
export function nextPowerStep(
  { wish, log }: NodePower,
  levels: readonly (readonly PowerDevice[])[],
  m: FenceMemory & SwitchMemory,
  now: number,
): PowerStep {
  if (wish === undefined) return { do: 'idle' };
  return wish.verb === 'off' ? decideFence(wish, log, levels, m, now) : decideSwitch(wish, log, levels, m, now);
}

import type { DetectionSettings } from '#contracts/settings.js';

/** ms; what does not go by probes, as a report of what has changed, waits no longer. */
const LONGEST = 40;
/** Steps within the interval of probes. */
const PER_INTERVAL = 12;
/** Steps within the gap from which on the loop counts as having stood still. */
const PER_GAP = 4;

/**
 * ms between two steps of the loop: a probe is sent and judged with this precision. To wake up for a step costs more than
 * the step, so that the loop runs no more often than the numbers ask for.
 */
export const loopStep = ({ interval, loopGap }: Pick<DetectionSettings, 'interval' | 'loopGap'>): number =>
  Math.min(LONGEST, interval / PER_INTERVAL, loopGap / PER_GAP);

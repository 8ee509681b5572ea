import type { DetectionSettings } from '#contracts/settings/settings.js';

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

/**
 * Whole ms from `now` to the next step. A probe that may be one more miss in a row is judged when it is due: of a death
 * every ms counts.
 * @param missDue when the next such probe is due, monotonic ms; undefined: nobody misses anything
 */
export const untilNextStep = (
  n: Pick<DetectionSettings, 'interval' | 'loopGap'>,
  now: number,
  missDue: number | undefined,
): number => Math.max(1, Math.ceil(Math.min(loopStep(n), (missDue ?? Infinity) - now)));

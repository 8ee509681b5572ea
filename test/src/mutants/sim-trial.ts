import { GREEN, type Outcome } from './outcome.js';

/** A simulation is asked for so many histories, the few first: most that is broken shows soon. */
const HISTORIES = [20, 200, 1000] as const;

/**
 * Tries a mutant by a simulation. What the simulation says where nothing is broken is asked only of as many histories
 * as found it: all of them take longer than any limit.
 * @param play plays so many histories, with the mutant or with nothing broken
 */
export function trialBySim(sim: string, play: (histories: number, what: 'broken' | 'whole') => Outcome): Outcome {
  for (const histories of HISTORIES) {
    const outcome = play(histories, 'broken');
    if ('killed' in outcome) {
      const whole = play(histories, 'whole');
      if ('killed' in whole) return { reason: `${sim} is red although nothing is broken` };
      return whole.reason === GREEN ? outcome : whole;
    }
    if (outcome.reason !== GREEN) return outcome;
  }
  return { reason: GREEN };
}

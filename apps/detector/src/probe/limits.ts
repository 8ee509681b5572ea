import type { DetectionSettings } from '#contracts';
import { MOST_WAITED } from '#probe/port-sign.js';

/** ms between two rounds of the monitor's own look at most. */
const MOST_ROUND = 500;
/** Of the time from SUSPECT to the reports that it is down: the rest is for the way there and back, and for a busy loop. */
const SHARE = 0.8;

/**
 * ms after which a datagram, or a connection, of the monitor counts as not answered. The first look begins at SUSPECT
 * and must have ended when the observers report down, or it would be what everybody waits for. Never shorter than an
 * observer waits for its own echo, since a suspect has missed fewer probes than one that is reported down.
 */
export const answerLimit = (n: Pick<DetectionSettings, 'interval' | 'misses' | 'suspectMisses'>): number =>
  Math.min(MOST_WAITED, SHARE * n.interval * (n.misses - n.suspectMisses));

/** ms between two rounds. */
export const roundPeriod = (n: Pick<DetectionSettings, 'interval'>): number => Math.min(MOST_ROUND, n.interval);

/** ms between the first looks at two nodes that fall together at most. */
const MOST_GAP = 1;
/** Of a round, in which all of them must have begun. */
const START_SHARE = 0.5;

/**
 * ms between the first looks at nodes that are suspected together: what hundreds of them echo in one moment would have to
 * wait in our socket, and what finds no room there is lost. Later rounds are as far apart as these.
 */
export const startGap = (count: number, round: number): number =>
  Math.min(MOST_GAP, (START_SHARE * round) / Math.max(1, count));

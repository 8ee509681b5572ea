import type { DetectionSettings } from '../settings/settings.js';

/** `unknown`: nothing is known of it now, neither that it is heard nor, by too few misses, that it is silent. */
export type LinkClass = 'unknown' | 'heard' | 'missing' | 'silent';

/**
 * What so many consecutive misses and this rtt mean, the same for the agent that counts them and for whoever reads them.
 * @param rttUs of the last echo, µs; -1: none that still counts
 */
export function linkClass(
  misses: number,
  rttUs: number,
  n: Pick<DetectionSettings, 'misses' | 'suspectMisses'>,
): LinkClass {
  if (misses >= n.misses) return 'silent';
  if (misses >= n.suspectMisses) return 'missing';
  return rttUs >= 0 ? 'heard' : 'unknown';
}

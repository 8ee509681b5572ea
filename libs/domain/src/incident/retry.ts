import { failedAt, type IncidentRecord } from '#contracts';

/**
 * How long a fencing that failed waits to be tried again, ms. By two times of one writer, the fencer: that of the failure
 * and `retryAt`. Notes that were added since (a pause, an operator's word) are by another host's wall clock.
 */
export function retryBackoff(i: Pick<IncidentRecord, 'steps' | 'retryAt' | 'updatedAt'>): number {
  return Math.max(0, (i.retryAt ?? i.updatedAt) - failedAt(i));
}

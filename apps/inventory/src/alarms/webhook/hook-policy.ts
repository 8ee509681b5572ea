import type { AlarmRecord, Webhook } from '#contracts';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';
import { severityRank } from '../severity.js';

/** Failures in a row before people are told by other ways. */
export const FAILURES_UNTIL_ALARM = 3;
/** A hook that has failed for this long gets one try per event from then on, until one succeeds, ms. */
export const RETRY_FOR_MS = 3_600_000;
/** Between two tries. */
const RETRY: RetryPolicy = { firstMs: 500, growth: 2, mostMs: 60_000 };

/**
 * Is this alarm, raised, changed, acknowledged or cleared, for the hook? One that was worse before is judged by that:
 * who was notified of the fault is notified of its end as well.
 */
export function isWanted(hook: Webhook, alarm: AlarmRecord): boolean {
  // Its own failure cannot reach it, and would only make the next one.
  if (alarm.code === 'webhook-failing' && alarm.subject === hook.name) return false;
  return severityRank(alarm.worst ?? alarm.severity) >= severityRank(hook.severity ?? 'warning');
}

/** ms until the next try, after so many failures in a row, one at least. */
export const pauseAfter = (failures: number): number => retryDelayMs(RETRY, failures);

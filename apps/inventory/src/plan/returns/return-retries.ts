import type { PendingReturn } from '#contracts';
import { retryDelayMs, type RetryPolicy } from '#domain/retry/retry-policy.js';

/** Between two tries of a check that ssh did not get to the node with. */
const UNREACHED: RetryPolicy = { firstMs: 5_000, growth: 2, mostMs: 60_000 };
/** Between two tries of one that failed otherwise: a person has to mend it. */
const FAILED: RetryPolicy = { firstMs: 5_000, growth: 2, mostMs: 300_000 };

/** Tries of its check that have failed so far; after each, ms until the next. */
export const failedTries = (p: PendingReturn | undefined): { tries: number; waitMs: number } => {
  const unreached = p?.unreached?.tries ?? 0;
  const failed = p?.failedTries ?? 0;
  return {
    tries: failed + unreached,
    waitMs: unreached > 0 ? retryDelayMs(UNREACHED, unreached) : retryDelayMs(FAILED, failed),
  };
};

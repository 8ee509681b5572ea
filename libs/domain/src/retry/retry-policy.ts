import type { MusterError } from '#contracts';

/** How long what failed waits until it is tried again. */
export interface RetryPolicy {
  /** After the first failure, ms. */
  readonly firstMs: number;
  /** After each further failure in a row the wait is so many times as long. @default 1 */
  readonly growth?: number;
  /** The longest wait, ms. @default none */
  readonly mostMs?: number;
  /** Share of the wait that chance may take off, 0…1: what failed together does not come again together. @default 0 */
  readonly spread?: number;
}

/**
 * Wait after a failure, ms.
 * @param attempt how many have failed in a row; 1 is the first
 * @param error what it failed with: where only the lease was lost nothing failed, and the next term begins at once
 * @param chance ≥ 0 and < 1
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  error?: Pick<MusterError, 'code'>,
  chance = 0,
): number {
  if (error?.code === 'LEASE_LOST') return 0;
  const { firstMs, growth = 1, mostMs = Infinity, spread = 0 } = policy;
  const wait = Math.min(mostMs, firstMs * growth ** Math.max(0, attempt - 1));
  return wait * (1 - spread * chance);
}

import { MusterError } from '#contracts';

/** Pure: what keeps a plan from being answered, for who asked. One that holds the lease and is slow is not nobody. */
export function planFailure(cause: unknown, waitedMs: number): MusterError {
  const failure = MusterError.from(cause);
  const failed = (code: 'NOT_LEADER' | 'CONDUCTOR_SLOW', why: string): MusterError =>
    new MusterError(code, why, {}, { cause });
  switch (failure.code) {
    case 'NO_RESPONDER':
    case 'LEASE_LOST':
      return failed(
        'NOT_LEADER',
        'no inventory holds the lease conductor now, so nobody decides: ask again in a few seconds; where that lasts, start an inventory (muster status names the holder)',
      );
    case 'TIMEOUT':
      return failed(
        'CONDUCTOR_SLOW',
        `the inventory that holds the lease conductor has not answered within ${waitedMs / 1000} s: it is busy, or has just gone. Ask again in a few seconds; where that lasts, muster status names the holder, and what of its tasks fails`,
      );
    default:
      return failure;
  }
}

import { MusterError, type ErrorCode } from './errors.js';

/** After INTERNAL, too: nobody foresaw where it came from. */
const CODES: readonly ErrorCode[] = ['TIMEOUT', 'BUS_UNAVAILABLE', 'INTERNAL'];

/** They say who may write, whatever was written. */
const OF_RIGHTS: readonly ErrorCode[] = ['LEASE_LOST', 'STALE_TOKEN'];

/** Somebody wrote meanwhile. */
export const isConflict = (e: unknown): e is MusterError => e instanceof MusterError && e.code === 'REVISION_CONFLICT';

/** Somebody wrote meanwhile, and it may have been an earlier try of the same. */
export const isConflictInDoubt = (e: unknown): boolean => isConflict(e) && e.facts['inDoubt'] === true;

/** Whether what failed with this may have been written all the same. */
export const isInDoubt = (e: unknown): boolean => CODES.includes(MusterError.from(e).code) || isConflictInDoubt(e);

/**
 * What is told instead of `failure` where an earlier try of the same may have been written: its own write may be what it is
 * refused for. Itself where it says already that nobody knows, or tells of a right that is lost.
 */
export function refusedInDoubt(failure: unknown): MusterError {
  const { code, message, facts } = MusterError.from(failure);
  if (CODES.includes(code) || OF_RIGHTS.includes(code)) return MusterError.from(failure);
  return new MusterError(
    'TIMEOUT',
    `this may have been done, look before you try again: the answer to a first try was lost, and then it was refused. ` +
      message,
    facts,
    { cause: failure },
  );
}

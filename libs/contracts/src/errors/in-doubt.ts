import { MusterError, type ErrorCode } from './errors.js';

const CODES: readonly ErrorCode[] = ['TIMEOUT', 'BUS_UNAVAILABLE', 'INTERNAL'];

/** Whether what failed with this may have been written all the same. A refusal never is. */
export function isInDoubt(e: unknown): boolean {
  const { code, facts } = MusterError.from(e);
  return CODES.includes(code) || (code === 'REVISION_CONFLICT' && facts['inDoubt'] === true);
}

/**
 * What is told instead of `refusal` where an earlier try of the same may have been written: its own write may be what it
 * is refused for. Itself where it says already that it is in doubt.
 * @param what the record, as its bucket and key
 */
export const refusedInDoubt = (what: string, refusal: unknown): MusterError =>
  isInDoubt(refusal)
    ? MusterError.from(refusal)
    : new MusterError(
        'TIMEOUT',
        `${what} may have been written, look at it before you try again: the answer to a first try was lost, and the ` +
          `second one was refused. ${MusterError.from(refusal).message}`,
        {},
        { cause: refusal },
      );

import { MusterError } from './errors.js';
import { isConflictInDoubt, refusedInDoubt } from './in-doubt.js';

/**
 * As people and programs outside are told: what failed inside is for our own log, and a conflict that may be with its own
 * first try is no refusal.
 */
export function toldOutside(e: MusterError): MusterError {
  if (e.code === 'INTERNAL')
    return new MusterError('INTERNAL', 'this failed inside Muster: the logs of its services say why', {}, { cause: e });
  return isConflictInDoubt(e) ? refusedInDoubt(e) : e;
}

import { ClosedConnectionError, PermissionViolationError, RequestError, TimeoutError } from '@nats-io/transport-node';
import { MusterError } from '#contracts';

export const busUnavailable = (what: string, cause?: unknown): MusterError =>
  new MusterError('BUS_UNAVAILABLE', `${what}: no connection to NATS`, {}, { cause });

/** What the NATS client threw, in our words: TIMEOUT, NO_RESPONDER, FORBIDDEN, BUS_UNAVAILABLE or INTERNAL. */
export function busFailure(x: unknown, subject: string): MusterError {
  if (x instanceof MusterError) return x;
  const facts = { subject };
  if (x instanceof TimeoutError)
    return new MusterError('TIMEOUT', `no answer on ${subject} in time`, facts, { cause: x });
  if (x instanceof RequestError && x.isNoResponders())
    return new MusterError('NO_RESPONDER', `nobody answers on ${subject}`, facts, { cause: x });
  const violation = x instanceof Error && x.cause instanceof PermissionViolationError ? x.cause : x;
  if (violation instanceof PermissionViolationError)
    return new MusterError('FORBIDDEN', `this NATS user may not use ${subject}`, facts, { cause: x });
  if (x instanceof ClosedConnectionError || (x instanceof RequestError && x.cause instanceof ClosedConnectionError))
    return busUnavailable(subject, x);
  return new MusterError('INTERNAL', x instanceof Error ? x.message : String(x), facts, { cause: x });
}

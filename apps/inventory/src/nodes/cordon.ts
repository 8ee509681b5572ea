import { MusterError, type Cordon } from '#contracts';

export interface CordonOrder {
  by: string;
  reason: string;
  /** Wall clock, ms. */
  until?: number | undefined;
}

/**
 * The cordon that an order makes. One on top of a drain goes on with it: who gives another reason wants nothing back.
 * @throws MusterError BAD_REQUEST where it would have ended already
 */
export function cordoned(o: CordonOrder, drain: boolean, at: number): Cordon {
  if (o.until !== undefined && o.until <= at)
    throw new MusterError('BAD_REQUEST', 'until is in the past: it takes a time to come, in ms', { until: o.until });
  return { reason: o.reason, by: o.by, at, ...(o.until !== undefined && { until: o.until }), ...(drain && { drain }) };
}

const DAY_MS = 86_400_000;
/** Time enough to notice, and to do it in working hours. */
const SOON_DAYS = 30;
/** Whoever has not noticed by then has to be told louder. */
const URGENT_DAYS = 3;

/**
 * How far off the end of a certificate is. Both times: ms of the wall clock.
 * @returns `soon` from 30 days before on, `urgent` from 3, `ended` once it is of no use
 */
export function certificateEnd(endsAt: number, now: number): 'far' | 'soon' | 'urgent' | 'ended' {
  const left = endsAt - now;
  if (left <= 0) return 'ended';
  if (left < URGENT_DAYS * DAY_MS) return 'urgent';
  return left < SOON_DAYS * DAY_MS ? 'soon' : 'far';
}

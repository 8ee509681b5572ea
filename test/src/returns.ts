import type { FeedEvent } from '../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../lab/src/fleet/fleet.js';

/**
 * The management network of a host is lost for longer than the hold-down of 5 s, and back: the check that follows.
 * @param meanwhile done while it is lost
 */
export async function checkAfterLoss(
  fleet: Fleet,
  host: string,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<FeedEvent> {
  const node = fleet.nodeOf(host);
  const mark = fleet.events.mark();
  await fleet.lab('cut', host, '--network', 'management');
  await fleet.events.verdict(node, 'DEGRADED', 10_000, mark);
  await Promise.all([meanwhile(), new Promise((r) => setTimeout(r, 7000))]); // the fault itself
  const healed = fleet.events.mark();
  await fleet.lab('heal', host);
  return await fleet.events.until('the check', (e) => e.kind === 'check' && e.key === node, 60_000, healed);
}

/** The re-setup that follows upon a check. */
export const resetupAfter = (fleet: Fleet, check: FeedEvent): Promise<FeedEvent> =>
  fleet.events.until(
    'the re-setup',
    (e) => e.kind === 'resetup' && e.key === check.key,
    120_000,
    fleet.events.seen.indexOf(check),
  );

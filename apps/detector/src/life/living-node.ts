import { isLifeSignWaived } from '#contracts';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import type { Heard } from '../observers/report-book.js';
import type { LivingNode } from './life-baseline.js';

/** A node as it is to be looked at; alive is who reports itself, as one machine, and does not leave. */
export function livingNode(
  fleet: Pick<FleetView, 'probeTarget' | 'settings'>,
  target: WatchedTarget,
  heard: Heard | undefined,
  observer: string,
  now: number,
): LivingNode {
  const { record } = target;
  const { detection, hostGroups } = fleet.settings;
  return {
    target: fleet.probeTarget(target),
    alive:
      heard !== undefined &&
      now - heard.at < detection.freshness &&
      now >= heard.conflictUntil &&
      heard.report.leaving === undefined,
    stored: record.lifeSeen?.[observer],
    waived: isLifeSignWaived(record, hostGroups),
  };
}

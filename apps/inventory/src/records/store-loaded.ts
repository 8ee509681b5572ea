import type { AlarmRecord, StoreGeneration } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

export interface LoadedDecision {
  alarms: WantedAlarm[];
  /** Somebody has acknowledged this load: to be kept from now on. */
  keep?: StoreGeneration;
}

/** An alarm for each load, until somebody has acknowledged that one: an acknowledgement in the copy is of an earlier load. */
export function decideLoaded(
  kept: StoreGeneration | undefined,
  stands: readonly Pick<AlarmRecord, 'code' | 'subject' | 'acknowledged'>[],
): LoadedDecision {
  if (kept?.loaded === undefined) return { alarms: [] };
  const { generation, loaded } = kept;
  const subject = String(generation);
  if (stands.some((a) => a.code === 'store-loaded' && a.subject === subject && a.acknowledged !== undefined))
    return { alarms: [], keep: { generation } };
  const message =
    `The store was loaded at ${loaded.at} from a copy whose last write is of ${loaded.copied}; what was written after that ` +
    'is not in it. Check open incidents, cordons, where each workload runs, and who was revoked since (docs/store.md), ' +
    `then: muster alarms ack store-loaded=${subject}`;
  return { alarms: [{ code: 'store-loaded', subject, severity: 'critical', message }] };
}

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
  const { copied, at, found } = loaded;
  const what =
    found === true
      ? `At ${at} the files of NATS were found to be older ones, of before ${copied}: somebody has put them back`
      : `At ${at} the store was put back to a copy whose last write is of ${copied}`;
  const ended = found === true ? UNDER_WAY : '';
  const message =
    `${what}; what was written after that is not in it, and fencing is paused. ${ended}Check who is dead, cordons, where ` +
    'each workload runs, and who was revoked since (docs/store.md), then: ' +
    `muster alarms ack store-loaded=${subject}; muster fencing set enforce; where the mode was observe: muster fencing set observe`;
  return { alarms: [{ code: 'store-loaded', subject, severity: 'critical', message }] };
}

const UNDER_WAY = 'Its jobs and incidents go on: stop the services, and run muster store restored, which ends them. ';

import { READS, workerKey, type WorkerRecord } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';

/** What a worker has to read of what this version stores: one that does not takes it for something else, or for nothing. */
const needs: Record<WorkerRecord['service'], number> = { fencer: READS.powerRecords, provisioner: READS.sealed };

const isOutdated = (w: Pick<WorkerRecord, 'service' | 'reads'>): boolean => (w.reads ?? 1) < needs[w.service];

const outdatedWorkers = (live: readonly WorkerRecord[]): WorkerRecord[] => live.filter(isOutdated);

/** The fencer that asks so. @param reads as it says */
export const isOutdatedFencer = (reads: number | undefined): boolean =>
  isOutdated({ service: 'fencer', ...(reads !== undefined && { reads }) });

export const outdatedAlarms = (live: readonly WorkerRecord[]): WantedAlarm[] =>
  outdatedWorkers(live).map((w) => ({
    code: 'worker-outdated',
    subject: workerKey(w),
    severity: 'critical',
    message: `${w.service} ${w.id} on ${w.host} is of an earlier version, which does not read what this one stores: stop it.`,
  }));

/** What a fencer is told that asks as an earlier version does. It does not say who it is; who is known to be one does. */
export function outdatedFencer(live: readonly WorkerRecord[]): string {
  const known = outdatedWorkers(live).flatMap((w) => (w.service === 'fencer' ? [w.id] : []));
  const who = known.length === 0 ? 'The fencer that asks' : `Fencer ${known.join(', ')}`;
  return `${who} is of an earlier version, which does not read what this one stores. Stop it: one of this version takes over.`;
}

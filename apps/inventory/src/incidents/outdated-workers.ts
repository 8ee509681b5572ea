import { SEALED_SCHEMA, workerKey, type WorkerRecord } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

/** Workers of a version of before records had seals: each takes what is sealed for the secret itself. */
export const outdatedWorkers = (live: readonly WorkerRecord[]): WorkerRecord[] =>
  live.filter((w) => (w.reads ?? 1) < SEALED_SCHEMA);

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

import { spaceWarning, type Disk } from '#bus';
import type { AlarmRecord } from '#contracts';
import { isActive } from '../alarms/alarm.service.js';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

const SUBJECT = 'disk';

/** One while the disk under NATS fills up. A disk that cannot be asked leaves it as it is. */
export function spaceAlarms(disk: Disk | undefined, stands: readonly AlarmRecord[]): WantedAlarm[] {
  const was = stands.find((a) => a.code === 'store-space' && a.subject === SUBJECT && isActive(a));
  const warning = disk === undefined ? was : spaceWarning(disk, was !== undefined);
  if (warning === undefined) return [];
  const { severity, message } = warning;
  return [{ code: 'store-space', subject: SUBJECT, severity, message }];
}

import { spaceWarning, type Disk } from '#bus';
import type { AlarmRecord } from '#contracts';
import { isActive } from '../alarms/active.js';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import { hostSubject } from './host-alarms.js';

/**
 * One while the disk under NATS fills up. A disk that cannot be asked leaves it as it is.
 * @param host whose it is, where there are several control hosts
 */
export function spaceAlarms(disk: Disk | undefined, stands: readonly AlarmRecord[], host?: string): WantedAlarm[] {
  const subject = hostSubject('disk', host);
  const was = stands.find((a) => a.code === 'store-space' && a.subject === subject && isActive(a));
  const warning = disk === undefined ? was : spaceWarning(disk, was !== undefined);
  if (warning === undefined) return [];
  const { severity, message } = warning;
  return [{ code: 'store-space', subject, severity, message }];
}

import type { AlarmCode, AlarmRecord } from '#contracts';
import { isActive } from './active.js';
import type { AlarmService } from './alarm.service.js';

export interface WantedAlarm {
  code: AlarmCode;
  subject: string;
  severity: AlarmRecord['severity'];
  message: string;
}

/**
 * Raises what is wanted and clears what is not, for the codes that one place alone is responsible for: a condition
 * that ended while nobody looked is cleared by the next look.
 * @param check called before each write; throws where the right to write is gone
 * @param isOver may one that is not wanted be cleared yet? @default it may
 */
export async function keepAlarms(
  alarms: AlarmService,
  codes: readonly AlarmCode[],
  wanted: readonly WantedAlarm[],
  check: () => void,
  isOver: (a: AlarmRecord) => boolean = () => true,
): Promise<void> {
  for (const a of wanted) {
    check();
    await alarms.raise(a.code, a.subject, a.severity, a.message);
  }
  const kept = new Set(wanted.map((a) => `${a.code}=${a.subject}`));
  for (const a of alarms.list().filter(isActive))
    if (codes.includes(a.code) && !kept.has(`${a.code}=${a.subject}`) && isOver(a)) {
      check();
      await alarms.clear(a.code, a.subject);
    }
}

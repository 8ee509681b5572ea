import type { AlarmCode, AlarmRecord } from '#contracts';
import { isActive } from './active.js';
import type { AlarmService } from './alarm.service.js';

/** Subject of an alarm that is about all nodes. */
export const FLEET = 'fleet';

export interface WantedAlarm {
  code: AlarmCode;
  subject: string;
  severity: AlarmRecord['severity'];
  message: string;
}

/**
 * Raises what is wanted and clears what is not, for the codes that one place alone is responsible for.
 * @param check called before each write; throws where the right to write is gone
 * @param isOver may one that is not wanted be cleared yet? @default it may
 * @returns undefined where nothing is to be done
 */
export function keepAlarms(
  alarms: AlarmService,
  codes: readonly AlarmCode[],
  wanted: readonly WantedAlarm[],
  check: () => void,
  isOver?: (a: AlarmRecord) => boolean,
): Promise<void> | undefined {
  // Most rounds of most who ask.
  if (wanted.length === 0 && unwanted(alarms.list(), codes, wanted, isOver).length === 0) return undefined;
  return keep(alarms, codes, wanted, check, isOver);
}

async function keep(
  alarms: AlarmService,
  codes: readonly AlarmCode[],
  wanted: readonly WantedAlarm[],
  check: () => void,
  isOver?: (a: AlarmRecord) => boolean,
): Promise<void> {
  for (const a of wanted) {
    check();
    await alarms.raise(a.code, a.subject, a.severity, a.message);
  }
  for (const a of unwanted(alarms.list(), codes, wanted, isOver)) {
    check();
    await alarms.clear(a.code, a.subject);
  }
}

/**
 * Those that are up and are not wanted, of the codes that one place alone is responsible for: a condition that ended
 * while nobody looked is cleared by the next look.
 * @param isOver may one that is not wanted be cleared yet? @default it may
 */
export function unwanted(
  all: readonly AlarmRecord[],
  codes: readonly AlarmCode[],
  wanted: readonly WantedAlarm[],
  isOver: (a: AlarmRecord) => boolean = () => true,
): AlarmRecord[] {
  const kept = new Set(wanted.map(keyOf));
  return all.filter((a) => isActive(a) && codes.includes(a.code) && !kept.has(keyOf(a)) && isOver(a));
}

const keyOf = ({ code, subject }: Pick<WantedAlarm, 'code' | 'subject'>): string => `${code}=${subject}`;

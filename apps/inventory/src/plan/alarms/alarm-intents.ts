import { alarmKey, type AlarmCode, type AlarmRecord } from '#contracts';
import { isActive, isUpAs } from '../../alarms/active.js';
import { unwanted, type WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { ClearAlarm, RaiseAlarm } from '../intent.js';

/**
 * Raises what is wanted and is not up with the same words, and clears what is not wanted, for the codes that one concern
 * alone is responsible for.
 * @param isOver may one that is not wanted be cleared yet? @default it may
 */
export function alarmIntents(
  { alarms }: Fleet,
  codes: readonly AlarmCode[],
  wanted: readonly WantedAlarm[],
  isOver?: (a: AlarmRecord) => boolean,
): (RaiseAlarm | ClearAlarm)[] {
  const all = alarms.list.map((e) => e.value);
  return [
    ...wanted
      .filter((a) => !isUpAs(alarms.get(alarmKey(a.code, a.subject))?.value, a))
      .map((alarm): RaiseAlarm => ({ do: 'raise-alarm', alarm, about: aboutIt(alarm), reason: alarm.message })),
    ...unwanted(all, codes, wanted, isOver).map((a): ClearAlarm => {
      const { code, subject } = a;
      return { do: 'clear-alarm', code, subject, about: aboutIt(a), reason: 'What it stands for is over.' };
    }),
  ];
}

/** It stands, whoever raised it. */
export function isTold({ alarms }: Pick<Fleet, 'alarms'>, code: AlarmCode, subject: string): boolean {
  const stored: AlarmRecord | undefined = alarms.get(alarmKey(code, subject))?.value;
  return stored !== undefined && isActive(stored);
}

const aboutIt = ({ code, subject }: Pick<WantedAlarm, 'code' | 'subject'>): { alarm: string } => ({
  alarm: alarmKey(code, subject),
});

import { alarmKey, type AlarmRecord } from '#contracts';
import { isActive } from '../../alarms/active.js';
import type { Concern } from '../concern.js';
import { intentsOfEach } from '../each-record.js';
import type { ClearAlarm } from '../intent.js';

/** A machine that was refused may be tried again by nobody: its alarm ends after a day, ms. */
const KEPT_MS = 86_400_000;

/** An alarm about something that happened once: over when somebody has seen it, its node is gone, or a day has passed. */
const isOver = (a: AlarmRecord, isNode: boolean, wallMs: number): boolean =>
  a.acknowledged !== undefined || !isNode || wallMs - a.since > KEPT_MS;

export const duplicateAlarms: Concern = {
  isKnown: ({ nodes, alarms }) => nodes.live && alarms.live,
  plan: ({ nodes, alarms, wallMs }) =>
    intentsOfEach(
      alarms.list,
      ({ key: alarm }) => ({ alarm }),
      ({ value: a }): ClearAlarm[] => {
        const { code, subject } = a;
        if (code !== 'duplicate' || !isActive(a) || !isOver(a, nodes.get(subject) !== undefined, wallMs)) return [];
        return [
          {
            ...{ do: 'clear-alarm', code, subject, about: { alarm: alarmKey(code, subject) } },
            reason: 'Somebody has seen it, its node is gone, or a day has passed.',
          },
        ];
      },
    ),
};

import type { AlarmCode } from '../alarms/alarm.js';

/** With it begins the hold of a node that came back too often. */
export const FLAPPING = 'flapping';

/** The alarm that stands for a return that waits for an operator, by why it does. */
export function heldAlarm(held: string): Extract<AlarmCode, 'resetup-failed' | 'flapping' | 'drift'> {
  if (held.startsWith('re-setup')) return 'resetup-failed';
  return held.startsWith(FLAPPING) ? 'flapping' : 'drift';
}

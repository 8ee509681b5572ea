import type { AlarmCode, WorkloadRecord } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Intent } from '../intent.js';
import { awaitedStarts } from './awaited-starts.js';
import { doubleAlarms, doublesSeen } from './doubles.js';
import { HeldAlarms } from './held-alarms.js';
import type { DoubleCondition } from './start-conditions.js';
import type { StartStep } from './start-steps.js';

/** Raised and cleared from here and nowhere else. */
const codes: readonly AlarmCode[] = ['no-room', 'workload-held', 'conflict-workload'];

/**
 * What somebody is told of work that does not run as it should.
 * @param settled all who live have been heard, or had time enough
 */
export function startAlarms(
  fleet: Fleet,
  steps: readonly StartStep[],
  ages: Ages<DoubleCondition>,
  settled: boolean,
): Intent[] {
  const { awaited, unstopped } = awaitedStarts(fleet);
  const wanted = new HeldAlarms();
  for (const step of steps) tell(step, wanted);
  for (const w of awaited)
    if ((w.start?.attempt ?? 0) > 0)
      wanted.setCertain(
        w.name,
        held(w, `Its start on ${w.assignment?.node ?? '?'} failed ${w.start?.attempt} time(s). ${w.held ?? ''}`),
      );
  for (const w of unstopped) {
    const text = `Its stop on ${w.assignment?.node ?? '?'} failed ${w.stop?.attempt} time(s). ${w.stop?.why ?? ''}`;
    wanted.setCertain(w.name, { ...held(w, text), severity: 'warning' });
  }
  const doubles = doublesSeen(fleet, ages);
  for (const { workload } of doubles.young) wanted.tooYoung(workload);
  const all = [...wanted.wanted(settled), ...doubleAlarms(doubles.certain)];
  return alarmIntents(fleet, codes, all, (a) => wanted.isOver(a, settled));
}

function tell({ workload: w, do: does, code, why, held: told }: StartStep, wanted: HeldAlarms): void {
  if (code === 'BARRED') wanted.setCertain(w.name, held(w, why));
  else if (told === 'young') wanted.tooYoung(w.name);
  else if (told !== undefined) wanted.set(w.name, { ...held(w, told.text), ...(does === 'no-room' && { code: does }) });
}

const held = ({ name }: WorkloadRecord, message: string): WantedAlarm => ({
  ...{ code: 'workload-held', subject: name, severity: 'critical', message },
});

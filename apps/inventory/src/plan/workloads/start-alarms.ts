import type { AlarmCode, WorkloadRecord } from '#contracts';
import { START_FAILED } from '#domain/workload/failed-starts.js';
import { failedStart, failedStop } from '#domain/workload/failed-tries.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import { eachRecord, isDecided, type Decided } from '../each-record.js';
import type { Intent } from '../intent.js';
import { awaitedStarts } from './awaited-starts.js';
import { doubleAlarms, doubles, doublesSeen } from './doubles.js';
import { HeldAlarms } from './held-alarms.js';
import type { DoubleCondition } from './start-conditions.js';
import type { StartStep } from './start-steps.js';
import { runsThere } from './stop-step.js';

/** Raised and cleared from here and nowhere else. */
const codes: readonly AlarmCode[] = ['no-room', 'workload-held', 'conflict-workload'];

/**
 * What somebody is told of work that does not run as it should.
 * @param steps those of which it was decided, and those of which it was not: their alarms stay as they are
 * @param settled all who live have been heard, or had time enough
 */
export function startAlarms(
  fleet: Fleet,
  steps: Decided<StartStep>,
  ages: Ages<DoubleCondition>,
  settled: boolean,
): Intent[] {
  const { awaited, moving, unstopped, failed: unclear } = awaitedStarts(fleet);
  const wanted = new HeldAlarms();
  const told = [
    eachRecord(steps.made, aboutStep, (step) => setHeld(step, wanted)),
    eachRecord(awaited, aboutIt, (w) => {
      const text = failedStart(w);
      if (text !== undefined) wanted.setFailed(w.name, held(w, text));
      return [];
    }),
    eachRecord(unstopped, aboutIt, (w) => {
      const text = failedStop(w);
      const severity = runsNowhere(w, fleet) ? 'critical' : 'warning';
      if (text !== undefined) wanted.setFailed(w.name, { ...held(w, text), severity });
      return [];
    }),
  ].flatMap((t) => t.failed);
  const seen = doublesSeen(fleet, ages);
  // What its node did not get started is not over by its leaving there.
  for (const w of moving) if (w.stop !== undefined && w.move?.cause === START_FAILED) wanted.tooYoung(w.name);
  for (const { workload } of seen.young) wanted.tooYoung(workload);
  const all = [...wanted.wanted(settled), ...doubleAlarms(seen.certain)];
  const isKnown = isDecided([...steps.failed, ...unclear, ...told, ...doubles(fleet).failed]);
  return [...told, ...alarmIntents(fleet, codes, all, (a) => wanted.isOver(a, settled) && isKnown(a))];
}

/** Of what is to be stopped, so that it can run elsewhere: by the word of its node, or as it was not started there. */
function runsNowhere(w: WorkloadRecord, { reports }: Fleet): boolean {
  const report = w.assignment && reports.get(w.assignment.node);
  if (w.desired !== 'running') return false;
  return report?.workloads === undefined ? w.move?.cause === START_FAILED : !runsThere({ workload: w, report });
}

const aboutIt = ({ name: workload }: WorkloadRecord): About => ({ workload });
const aboutStep = ({ workload }: StartStep): About => aboutIt(workload);

function setHeld({ workload: w, do: does, code, why, held: told }: StartStep, wanted: HeldAlarms): [] {
  if (code === 'BARRED') wanted.setCertain(w.name, held(w, why));
  else if (told === 'young') wanted.tooYoung(w.name);
  else if (told !== undefined) wanted.set(w.name, { ...held(w, told.text), ...(does === 'no-room' && { code: does }) });
  return [];
}

const held = ({ name }: WorkloadRecord, message: string): WantedAlarm => ({
  ...{ code: 'workload-held', subject: name, severity: 'critical', message },
});

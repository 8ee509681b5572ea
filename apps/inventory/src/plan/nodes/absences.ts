import type { WorkloadRecord } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { About } from '../../conductor/task.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { eachMade, eachRecord, isDecided, type Decided } from '../each-record.js';
import type { ChangeWorkload, Intent } from '../intent.js';
import {
  absenceStep,
  absenceAlarm,
  isTimed,
  presenceOf,
  restartLeftMs,
  type Presence,
} from '../workloads/workload-absence.js';

/** Workload, what it is, and by whose word: another generation, boot or start of the agent begins anew. */
type AbsenceCondition = `${string}/${Presence}/${string}`;

interface ObservedWorkload {
  workload: WorkloadRecord;
  presence: Presence;
  /** Undefined: for how long it has been so does not matter. */
  condition: AbsenceCondition | undefined;
}

/** One that has ended by itself and is to be started again. */
export interface AbsenceView {
  workload: WorkloadRecord;
  /** Until its start is owed, ms. */
  leftMs: number;
}

/**
 * Workloads that stop on a node that is well, without an order: their start is owed again. The start itself is given by
 * those who give every start, after the same checks.
 */
export const absences: Concern<AbsenceCondition> = {
  // All workloads are looked at: a burst of changes is no reason to do that more often.
  pace: { everyMs: 500 },
  // A gap in what is seen is no absence: after it every age begins anew.
  conditions: (fleet) => ({ holds: fleet.live ? observed(fleet).made.flatMap((o) => o.condition ?? []) : [] }),
  plan: (fleet, ages) => {
    if (!fleet.live) return [];
    const { made, failed } = eachMade(observed(fleet), aboutIt, (o) => [decide(o, ageOf(o, ages))]);
    return [
      ...failed,
      ...made.flatMap((d) => d.intents),
      ...alarmIntents(
        fleet,
        ['workload-ended'],
        made.flatMap((d) => d.alarms),
        isDecided(failed),
      ),
    ];
  },
};

/** How far each is, by the ages of who starts them again. */
export const absenceViews = (fleet: Fleet, ages: Ages<AbsenceCondition>): readonly AbsenceView[] =>
  fleet.live
    ? eachMade(observed(fleet), aboutIt, (o): AbsenceView[] => {
        const leftMs = restartLeftMs(o.workload, o.presence, ageOf(o, ages));
        return leftMs === undefined ? [] : [{ workload: o.workload, leftMs }];
      }).made
    : [];

/** At those of which anything could follow: nearly all run, and never ended. */
const observed = perFleet((fleet): Decided<ObservedWorkload> =>
  eachRecord(
    fleet.workloads.list,
    ({ key }) => ({ workload: key }),
    ({ value: workload }): ObservedWorkload[] => {
      const at = workload.assignment?.node ?? '';
      const report = fleet.reports.get(at);
      const presence = presenceOf({
        workload,
        node: fleet.nodes.get(at)?.value,
        incident: fleet.incidents.get(at)?.value.phase,
        report,
      });
      if (isTimed(workload, presence)) {
        const word = [workload.generation, report?.bootId, report?.epoch].join('/');
        return [{ workload, presence, condition: `${workload.name}/${presence}/${word}` }];
      }
      return workload.ended === undefined ? [] : [{ workload, presence, condition: undefined }];
    },
  ),
);

const aboutIt = ({ workload: { name } }: ObservedWorkload): About => ({ workload: name });

function decide({ workload, presence }: ObservedWorkload, forMs: number): { intents: Intent[]; alarms: WantedAlarm[] } {
  const step = absenceStep(workload, presence, forMs);
  const message = absenceAlarm(workload, presence, forMs);
  return {
    intents: step === 'none' ? [] : [step === 'owe' ? owe(workload) : forget(workload)],
    alarms:
      message === undefined ? [] : [{ code: 'workload-ended', subject: workload.name, severity: 'warning', message }],
  };
}

const ageOf = ({ condition }: ObservedWorkload, ages: Ages<AbsenceCondition>): number =>
  condition === undefined ? 0 : ages.of(condition);

const owe = (w: WorkloadRecord): ChangeWorkload => ({
  ...{ do: 'change-workload', key: w.name, about: { workload: w.name }, told: 'ended' },
  reason: 'It has ended by itself.',
  decide: (now, { fleet }) => (isAsSeen(now, w) ? { kind: 'ended', at: fleet.wallMs } : undefined),
  log: {
    level: 'warn',
    facts: { workload: w.name, node: w.assignment?.node, times: (w.ended?.times ?? 0) + 1 },
    message: 'workload has ended by itself: it is started again',
  },
});

const forget = (w: WorkloadRecord): ChangeWorkload => ({
  ...{ do: 'change-workload', key: w.name, about: { workload: w.name } },
  reason: 'It has run for long enough: that it ended before is forgotten.',
  decide: (now) => (isAsSeen(now, w) ? { kind: 'steady' } : undefined),
});

const isAsSeen = (now: WorkloadRecord, w: WorkloadRecord): boolean =>
  now.generation === w.generation && now.boot === w.boot;

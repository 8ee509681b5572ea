import type { Report, WorkloadRecord } from '#contracts';
import { GATE_MS } from '#domain/workload/start-decision.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Ages } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { madeOnce, perFleet } from '../../snapshot/per-fleet.js';
import type { Records } from '../../snapshot/records.js';
import { aboutWorkload, eachRecord, type Decided } from '../each-record.js';
import type { DoubleCondition } from './start-conditions.js';

/** A report may be on its way: one that is seen for no longer than this is not told of, ms. */
const DOUBLE_SEEN_MS = 3_000;

/** A workload that a node runs although it belongs to another one. */
export interface Double {
  workload: string;
  on: string;
  assigned: string;
  /** Its start gate may still refuse it: after a boot it does so as soon as its agent has read whose the workload is. */
  starting: boolean;
}

/**
 * Workload → where it is, in the order of the records. A start that is owed is looked at before it is given, and the registry
 * corrected: of the others somebody must be told.
 */
export const settledOn = ({ name, assignment, start }: WorkloadRecord): readonly (readonly [string, string])[] =>
  assignment === undefined || start !== undefined ? [] : [[name, assignment.node]];

/**
 * What runs where it is not assigned, by the nodes' own fresh reports, in the order of `settled`.
 * @param settled see {@link settledOn}
 * @param fresh one for each node. Each is read once: fleets have thousands of nodes, and this is asked every round
 */
export function doublesOf(
  settled: ReadonlyMap<string, string>,
  fresh: Iterable<Pick<Report, 'node' | 'workloads'>>,
): Double[] {
  // Nearly all run where they are assigned: only of the others anything is made.
  const found = new Map<string, Double[]>();
  for (const { node: on, workloads: runs = [] } of fresh)
    for (const { name: workload, starting } of runs) {
      const at = settled.get(workload);
      if (at === undefined || at === on) continue;
      const known = found.get(workload) ?? [];
      // Of a name that a report has twice the first counts.
      if (known.at(-1)?.on === on) continue;
      found.set(workload, [...known, { workload, on, assigned: at, starting: starting === true }]);
    }
  return found.size === 0 ? [] : [...settled.keys()].flatMap((name) => found.get(name) ?? []);
}

/** One for each workload, whatever number of nodes it is on. */
export function doubleAlarms(doubles: readonly Double[]): WantedAlarm[] {
  const found = new Map<string, Double[]>();
  for (const d of doubles) found.set(d.workload, [...(found.get(d.workload) ?? []), d]);
  return [...found].map(([subject, on]) => {
    const where = on.map((d) => `${d.starting ? 'is being started' : 'runs'} on ${d.on}`).join(' and ');
    const rest = on.length === 1 ? 'one' : 'all but one';
    return {
      ...{ code: 'conflict-workload', subject, severity: 'critical' },
      message: `It ${where} while it is assigned to ${on[0]?.assigned}: end it on ${rest} of them by hand.`,
    };
  });
}

/** What holds as of now of {@link DoubleCondition}. */
export const doubleConditions = (fleet: Fleet): DoubleCondition[] =>
  doubles(fleet).made.flatMap((d) => (d.starting ? [isThere(d)] : [isThere(d), runsThere(d)]));

/** Those that are seen for long enough that no report or gate can be on its way, and the others. */
export function doublesSeen(
  fleet: Fleet,
  ages: Ages<DoubleCondition>,
): { certain: readonly Double[]; young: readonly Double[] } {
  // One that crashes and is started again all the time is hardly ever seen to run.
  const isCertain = (d: Double): boolean =>
    ages.of(isThere(d)) > GATE_MS || (!d.starting && ages.of(runsThere(d)) > DOUBLE_SEEN_MS);
  const { made: all } = doubles(fleet);
  return { certain: all.filter(isCertain), young: all.filter((d) => !isCertain(d)) };
}

export const doubles = perFleet(({ workloads, reports }: Fleet): Decided<Double> => {
  const { made, failed } = settled(workloads);
  return { made: doublesOf(made, reports.values()), failed };
});

/** The records are the same until one of them changes, whatever else does. */
const settled = madeOnce(({ list }: Records<WorkloadRecord>) => {
  const { made, failed } = eachRecord(list, aboutWorkload, (e) => settledOn(e.value));
  return { made: new Map(made), failed };
});

const isThere = (d: Double): DoubleCondition => `double/${d.workload}/${d.on}`;
const runsThere = (d: Double): DoubleCondition => `double/${d.workload}/${d.on}/running`;

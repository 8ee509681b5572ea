import {
  isOpenIncident,
  type AlarmRecord,
  type IncidentRecord,
  type NodeRecord,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { latestVerdict } from '#domain/verdict/latest-verdict.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { aboutNode, aboutWorkload, decideTogether, eachRecord, isDecided } from '../each-record.js';
import type { FailRecord } from '../intent.js';
import { alarmIntents } from './alarm-intents.js';

/** Names in a message, at most. */
const NAMED = 10;

/** The alarms about cordoned nodes that died with their work. */
export const deadWork: Concern = {
  // Without a detector nobody is called dead, and what was stays so.
  isKnown: ({ detector, nodes, workloads }) => detector.fresh && nodes.live && workloads.live,
  plan: (fleet) => {
    // Hardly ever is a cordoned node dead: all workloads are gone through only then.
    const unclear: FailRecord[] = [];
    const running = (): ReadonlyMap<string, readonly string[]> => {
      const { made, failed } = runningIn(fleet);
      unclear.push(...failed);
      return made;
    };
    const { made, failed } = eachRecord(fleet.nodes.list, aboutNode, ({ value }) =>
      deadWithWork({
        nodes: [value],
        running,
        verdictOf: (n) => latestVerdict(n, fleet.detector.beacon),
        incidentOf: (node) => fleet.incidents.get(node)?.value,
      }),
    );
    // A workload that could not be judged may be that of any of them.
    const isOver = (a: AlarmRecord): boolean => unclear.length === 0 && isDecided(failed)(a);
    return [...failed, ...unclear, ...alarmIntents(fleet, ['dead-with-work'], made, isOver)];
  },
};

/** Node → workloads that should run there, as {@link runningBy}; gathered when it is asked for. */
export const runningIn = perFleet(({ workloads }: Fleet) =>
  decideTogether(workloads.list, aboutWorkload, (all) => runningBy(all.map((e) => e.value))),
);

export interface DeadWorkFacts {
  nodes: readonly NodeRecord[];
  /** Node → workloads that should run there. Asked for only where somebody is dead. */
  running(): ReadonlyMap<string, readonly string[]>;
  verdictOf(n: NodeRecord): VerdictKind | undefined;
  incidentOf(node: string): IncidentRecord | undefined;
}

/**
 * A cordoned node is left alone, also when it dies: no incident is opened, nothing of it is recovered. Where work that
 * should run is assigned to it, somebody has to know.
 */
export function deadWithWork(f: DeadWorkFacts): WantedAlarm[] {
  return f.nodes.flatMap((n): WantedAlarm[] => {
    if (n.cordon === undefined || n.confirmedOff !== undefined || f.verdictOf(n) !== 'DOWN') return [];
    // Its incident, where one is open, has alarms of its own.
    const incident = f.incidentOf(n.name);
    if (incident !== undefined && isOpenIncident(incident)) return [];
    const names = f.running().get(n.name);
    if (names === undefined) return [];
    const message = `${n.name} is DOWN and cordoned by ${n.cordon.by} (${n.cordon.reason}): it is not fenced.${runsNowhere(names)} To have it fenced and its work started elsewhere: muster node uncordon ${n.name}.`;
    return [{ code: 'dead-with-work', subject: n.name, severity: 'critical', message }];
  });
}

/** ` Runs nowhere: db1, db2.`; empty where there is none. */
export const runsNowhere = (workloads: readonly string[]): string => {
  if (workloads.length === 0) return '';
  const more = workloads.length > NAMED ? ` and ${workloads.length - NAMED} more` : '';
  return ` Runs nowhere: ${workloads.slice(0, NAMED).join(', ')}${more}.`;
};

/** Node → workloads that should run there, by priority and name. */
export function runningBy(workloads: readonly WorkloadRecord[]): Map<string, string[]> {
  const by = new Map<string, string[]>();
  const sorted = workloads
    .filter((w) => w.desired === 'running' && w.assignment !== undefined)
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  for (const w of sorted) {
    const node = w.assignment?.node ?? '';
    const names = by.get(node);
    if (names) names.push(w.name);
    else by.set(node, [w.name]);
  }
  return by;
}

import type { IncidentRecord } from '#contracts';
import {
  checkStart,
  isUnproven,
  unheardOf,
  type StartCheck,
  type StartFacts,
  type Unheard,
} from '#domain/workload/where-it-runs.js';
import { mayFollowTo, whetherMustAnswer } from '../../reports/who-must-answer.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';

/** Where it runs, by the word of every node, before it is started on that one. */
export function startCheck(fleet: Fleet, workload: string, target: string): StartCheck {
  const known = checks(fleet);
  const key = `${workload}/${target}`;
  const check = known.get(key) ?? checkStart(startFacts(fleet, workload, target));
  known.set(key, check);
  return check;
}

/** Who has to speak, or to be proven off, before it is stopped on its own node, to be started on another. */
export const unheardBefore = (fleet: Fleet, workload: string, own: string): Unheard =>
  unheardOf(startFacts(fleet, workload, own));

const startFacts = (fleet: Fleet, workload: string, target: string): StartFacts => ({
  ...{ workload, target, mustAnswer: mustAnswer(fleet).made, unproven: unproven(fleet), fresh: fresh(fleet) },
  lastWord: fleet.lastWord,
});

/** Each reads all reports, and is asked for by who keeps the ages and by who plans. */
const checks = perFleet(() => new Map<string, StartCheck>());
const fresh = perFleet(({ reports }: Fleet) => [...reports.values()]);

/** One of which that cannot be said must answer in any case. */
const unproven = perFleet((fleet: Fleet): readonly string[] => {
  const incident = (node: string): IncidentRecord | undefined => fleet.incidents.get(node)?.value;
  return eachRecord(fleet.nodes.list, aboutNode, ({ key, value }) =>
    isUnproven(value, incident(key), fleet.reports.has(key)) ? [key] : [],
  ).made;
});

/** Nodes that must say what they run, and do not, whatever they have said last. */
export const silentNodes = (fleet: Fleet): string[] =>
  mustAnswer(fleet).made.filter((node) => fleet.reports.get(node)?.workloads === undefined);

/** The registry follows what is seen, unless the node it is seen on is one that nothing may run on. */
export const mayFollow = ({ nodes, incidents }: Fleet, seenOn: string): boolean =>
  mayFollowTo(nodes.get(seenOn)?.value, incidents.live);

/** One of which it cannot be said whether it must has to: it may run anything. */
export const mustAnswer = perFleet((fleet: Fleet): Decided<string> => {
  const isAsked = whetherMustAnswer({
    incident: (node) => fleet.incidents.get(node)?.value,
    speaks: (node) => fleet.reports.has(node),
    workloads: () => fleet.workloads.list.map((e) => e.value),
  });
  const { made, failed } = eachRecord(fleet.nodes.list, aboutNode, ({ key, value }) => (isAsked(value) ? [key] : []));
  return { made: [...made, ...failed.flatMap((f) => f.about['node'] ?? [])], failed };
});

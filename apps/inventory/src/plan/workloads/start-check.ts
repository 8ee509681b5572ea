import { checkStart, type StartCheck } from '#domain/workload/where-it-runs.js';
import { mayFollowTo, whoMustAnswer } from '../../reports/who-must-answer.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';

/** Where it runs, by the word of every node, before it is started on that one. */
export function startCheck(fleet: Fleet, workload: string, target: string): StartCheck {
  const known = checks(fleet);
  const key = `${workload}/${target}`;
  const check =
    known.get(key) ??
    checkStart({
      ...{ workload, target, mustAnswer: mustAnswer(fleet), fresh: fresh(fleet) },
      lastWord: fleet.lastWord,
    });
  known.set(key, check);
  return check;
}

/** Each reads all reports, and is asked for by who keeps the ages and by who plans. */
const checks = perFleet(() => new Map<string, StartCheck>());
const fresh = perFleet(({ reports }: Fleet) => [...reports.values()]);

/** Nodes that must say what they run, and do not, whatever they have said last. */
export const silentNodes = (fleet: Fleet): string[] =>
  mustAnswer(fleet).filter((node) => fleet.reports.get(node)?.workloads === undefined);

/** The registry follows what is seen, unless the node it is seen on is one that nothing may run on. */
export const mayFollow = ({ nodes, incidents }: Fleet, seenOn: string): boolean =>
  mayFollowTo(nodes.get(seenOn)?.value, incidents.live);

const mustAnswer = perFleet((fleet: Fleet): string[] =>
  whoMustAnswer({
    nodes: fleet.nodes.list.map((e) => e.value),
    incident: (node) => fleet.incidents.get(node)?.value,
    speaks: (node) => fleet.reports.has(node),
    workloads: () => fleet.workloads.list.map((e) => e.value),
  }),
);

import { isOpenIncident, type IncidentRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { shouldReport } from '#domain/node/membership.js';
import { isUnproven, mustAnswer } from '#domain/workload/where-it-runs.js';

/** The fleet, as far as it matters for whose word is needed before anything starts. */
export interface AnswerFacts {
  nodes: readonly NodeRecord[];
  incident(node: string): IncidentRecord | undefined;
  /** A fresh report of it was heard. */
  speaks(node: string): boolean;
  workloads(): readonly WorkloadRecord[];
}

/** Nodes that must say what they run before a workload is started on one of them. */
export function whoMustAnswer({ nodes, ...f }: AnswerFacts): string[] {
  const isAsked = whetherMustAnswer(f);
  return nodes.filter((n) => isAsked(n)).map((n) => n.name);
}

/** The same of each node: what they share is computed once. */
export function whetherMustAnswer(f: Omit<AnswerFacts, 'nodes'>): (n: NodeRecord) => boolean {
  let busy: Set<string | undefined> | undefined;
  const hasWork = (node: string): boolean => {
    busy ??= new Set(f.workloads().map((w) => w.assignment?.node));
    return busy.has(node);
  };
  const isBeingFenced = (n: NodeRecord): boolean => {
    const incident = f.incident(n.name);
    return (
      n.confirmedOff !== undefined ||
      (incident !== undefined && isOpenIncident(incident) && incident.unreadable === undefined)
    );
  };
  return (n) => mustAnswer(n, isBeingFenced(n), f.speaks(n.name), () => hasWork(n.name));
}

/** Silent nodes that are to be fenced, or are gone, and are not proven off. */
export function whoIsUnproven({ nodes, incident, speaks }: Omit<AnswerFacts, 'workloads'>): string[] {
  return nodes.filter((n) => isUnproven(n, incident(n.name), speaks(n.name))).map((n) => n.name);
}

/**
 * The registry follows what is seen, unless the node it is seen on is one that nothing may run on.
 * @param node its record; undefined: there is none
 * @param incidentsLive the view of the incidents has no gap
 */
export const mayFollowTo = (node: NodeRecord | undefined, incidentsLive: boolean): boolean =>
  node !== undefined && shouldReport(node) && incidentsLive;

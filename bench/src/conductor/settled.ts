import type { StatusView, TaskView } from '#contracts';

/** What a settled fleet has. */
export interface FleetSize {
  nodes: number;
  workloads: number;
}

/**
 * What keeps a fleet from being settled; empty: nothing. Every node is in service, every workload runs where it is
 * assigned, nothing is critical, no incident is open, and no task fails.
 */
export function unsettled(s: StatusView, size: FleetSize): string[] {
  const { nodes, workloads: w, tasks = [] } = s;
  const [out] = nodes.out;
  const [wrong] = w.worst;
  const critical = s.alarms.filter((a) => a.cleared === undefined && a.severity === 'critical');
  const failing = tasks.filter((t) => t.errors > 0);
  return [
    ...(s.stale === undefined ? [] : [s.stale]),
    ...(nodes.total === size.nodes && nodes.inService === size.nodes
      ? []
      : [
          `${nodes.inService} of ${size.nodes} nodes are in service${out === undefined ? '' : `: ${JSON.stringify(out)}`}`,
        ]),
    ...(w.total === size.workloads && w.running === size.workloads && w.wrong === 0
      ? []
      : [`${w.running} of ${size.workloads} workloads run${wrong === undefined ? '' : `: ${JSON.stringify(wrong)}`}`]),
    ...critical.map((a) => `alarm ${a.code} of ${a.subject}: ${a.message}`),
    ...s.incidents.map((i) => `incident of ${i.node} is ${i.phase}`),
    ...(tasks.length > 0 ? [] : ['no conductor says how its tasks go']),
    ...failing.map((t) => `task ${t.name} fails: ${t.lastError?.message ?? ''}`),
  ];
}

/** Names of the tasks that have not run to their end, without a failure, since then. @param sinceMs wall clock */
export const unfinished = (tasks: readonly TaskView[], sinceMs: number): string[] =>
  tasks
    .filter(({ lastRun = 0, lastMs, errors }) => lastRun < sinceMs || lastMs === undefined || errors > 0)
    .map((t) => t.name);

import type { WorkloadRecord } from '#contracts';
import type { WorkloadEvent } from '#domain/workload/changes.js';
import { provesStart } from '#domain/workload/owed-start.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutWorkload, eachRecord } from '../each-record.js';
import type { FailRecord } from '../intent.js';

/** What the report of its node says of a workload, and its record does not yet. */
export interface StartNews {
  workload: WorkloadRecord;
  event: Extract<WorkloadEvent, { kind: 'started' | 'lost' }>;
}

/** Of all workloads those that a look has anything to do with: nearly all of them run, and are in none of these. */
export interface AwaitedStarts {
  /** That shall run, and are assigned nowhere or not started yet. */
  awaited: readonly WorkloadRecord[];
  news: readonly StartNews[];
  /** On their way from one node to another. */
  moving: readonly WorkloadRecord[];
  /** Whose stop has failed. */
  unstopped: readonly WorkloadRecord[];
  /** Of which that cannot be said. */
  failed: readonly FailRecord[];
}

export const awaitedStarts = perFleet((fleet: Fleet): AwaitedStarts => {
  const awaited: WorkloadRecord[] = [];
  const news: StartNews[] = [];
  const moving: WorkloadRecord[] = [];
  const unstopped: WorkloadRecord[] = [];
  const { failed } = eachRecord(fleet.workloads.list, aboutWorkload, ({ value: w }) => {
    // One that is being stopped so that it can move is the stops' until it has left.
    const isOurs = w.desired === 'running' && w.stop === undefined;
    const event = isOurs ? newsOf(w, fleet) : undefined;
    const isAwaited = isOurs && (w.start !== undefined || w.assignment === undefined);
    const isUnstopped = w.stop !== undefined && w.stop.attempt > 0;
    // Only now: one about which anything of this throws is in none of them.
    if (w.move !== undefined) moving.push(w);
    if (isUnstopped) unstopped.push(w);
    if (isAwaited) awaited.push(w);
    if (event !== undefined) news.push({ workload: w, event });
    return [];
  });
  return { awaited, news, moving, unstopped, failed };
});

/** By the node's own report: seen running there, or lost with a boot. */
function newsOf(w: WorkloadRecord, { reports }: Fleet): StartNews['event'] | undefined {
  const at = w.assignment;
  const report = at && reports.get(at.node);
  if (report?.workloads === undefined) return undefined;
  const isOtherBoot = w.boot !== report.bootId;
  // Its report is of the boot of its record, and nothing is owed there: most of them.
  if (w.start === undefined && !isOtherBoot) return undefined;
  const there = report.workloads.find((r) => r.name === w.name);
  if (there !== undefined)
    return provesStart(w, there, report.bootId)
      ? { kind: 'started', generation: at?.generation ?? -1, boot: report.bootId }
      : undefined;
  return w.start === undefined && w.boot !== undefined ? { kind: 'lost', boot: report.bootId } : undefined;
}

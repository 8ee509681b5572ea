import type { NodeRecord, RunningWorkload, WorkloadRecord } from '#contracts';

/** Names that are kept of a node at most: that there is one is what decides. */
export const MOST_UNGATED = 100;

/**
 * What the next boot of a node may start without asking, after the node has said what runs there; undefined: as it was.
 * A run whose agent does not vouch for a gate has none: an agent of before does not tell. A run that is merely gone has
 * ended or crashed, and its unit is as it was: the boot starts it all the same.
 * @param was sorted, of the node's record; undefined: none
 * @param workloads of its fresh report; undefined: it does not know what runs there
 * @param isOver of what is not reported any more: the boot does not start it, or it is no matter
 */
export function ungatedAfter(
  was: readonly string[] | undefined,
  workloads: readonly RunningWorkload[] | undefined,
  isOver: (workload: string) => boolean,
): string[] | undefined {
  if (workloads === undefined) return undefined;
  const reported = new Set(workloads.map((w) => w.name));
  const gone = (was ?? []).filter((name) => !reported.has(name) && !isOver(name));
  const names = workloads.filter((w) => w.gated !== true).map((w) => w.name);
  const is = [...new Set([...names, ...gone])].sort().slice(0, MOST_UNGATED);
  return is.join('\n') === (was ?? []).join('\n') ? undefined : is;
}

/**
 * Muster itself has stopped it on that node, and that was read back: its unit is disabled there. Where another tool stops
 * it, what that tool does at a boot is not known.
 * @param isReadBack by the stop that this job was given
 */
export const isStoppedThere = (
  w: Pick<WorkloadRecord, 'desired' | 'assignment' | 'stop' | 'recovery'>,
  node: string,
  isReadBack: (job: string) => boolean,
): boolean => {
  if (w.assignment?.node !== node) return false;
  if (w.stop !== undefined) return w.stop.job !== undefined && isReadBack(w.stop.job);
  return w.desired === 'stopped' && w.recovery.driver === 'ansible';
};

/**
 * May the node's boot start it without asking? Where as many names are kept as can be it may be one that is not.
 * @param node its record; undefined: it is gone, and nobody knows
 */
export function mayStartByItself(node: Pick<NodeRecord, 'ungated'> | undefined, workload: string): boolean {
  if (node === undefined) return true;
  const { ungated = [] } = node;
  return ungated.includes(workload) || ungated.length >= MOST_UNGATED;
}

/** `db, web and 3 more ran there without Muster's start gate` */
export function ungatedText(ungated: readonly string[]): string {
  const named = ungated.slice(0, 5).join(', ');
  const more = ungated.length > 5 ? ` and ${ungated.length - 5} more` : '';
  return `${named}${more} ran there without Muster's start gate`;
}

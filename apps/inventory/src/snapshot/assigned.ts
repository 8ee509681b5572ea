import type { WorkloadRecord } from '#contracts';
import type { Fleet } from './fleet.js';
import { madeOnce } from './per-fleet.js';
import type { Records } from './records.js';

/** Node → what is assigned to it. The records are the same until one of them changes, whatever else does. */
const byNode = madeOnce(({ list }: Records<WorkloadRecord>): ReadonlyMap<string, readonly WorkloadRecord[]> => {
  const there = new Map<string, WorkloadRecord[]>();
  for (const { value: w } of list) {
    const node = w.assignment?.node;
    if (node === undefined) continue;
    const known = there.get(node);
    if (known === undefined) there.set(node, [w]);
    else known.push(w);
  }
  return there;
});

/** What is assigned to the node. */
export const assignedTo = ({ workloads }: Pick<Fleet, 'workloads'>, node: string): readonly WorkloadRecord[] =>
  byNode(workloads).get(node) ?? [];

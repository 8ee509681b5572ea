import type { Entry } from '#bus';
import type { WorkloadRecord } from '#contracts';
import type { Table } from '../store/inventory-store.js';

/** A view that is further behind than this, ms, is not waited for: its bucket is then read. */
export const BEHIND_MS = 500;

/**
 * Every workload, for decisions that rest on a node having none: whatever was assigned before now is in it. Any replica
 * may have written that, and the view shows it only a moment later.
 */
const workloadsNow = async (all: Table<WorkloadRecord>): Promise<readonly Entry<WorkloadRecord>[]> =>
  (await workloadsBehind(all)) ?? all.view.entries();

/** Waits until the view shows all that was written before now. @returns the bucket, where the view stays behind */
export async function workloadsBehind({
  bucket,
  view,
}: Table<WorkloadRecord>): Promise<readonly Entry<WorkloadRecord>[] | undefined> {
  const end = await bucket.lastRevision(view.revision);
  return (await view.shows(end, BEHIND_MS)) ? undefined : bucket.list();
}

/** Names of the workloads that are assigned to the node now. */
export async function assignedNow(workloads: Table<WorkloadRecord>, node: string): Promise<string[]> {
  return (await workloadsNow(workloads)).filter((e) => e.value.assignment?.node === node).map((e) => e.key);
}

import type { WorkloadRecord } from '#contracts';
import { entriesNow } from './entries-now.js';
import type { Table } from './inventory-store.js';

/** Names of the workloads that are assigned to the node now. */
export async function assignedNow(workloads: Table<WorkloadRecord>, node: string): Promise<string[]> {
  return (await entriesNow(workloads))
    .filter((e) => e.value.assignment?.node === node)
    .map((e) => e.key)
    .sort();
}
